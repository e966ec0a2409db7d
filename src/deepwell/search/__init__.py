"""The web's search engines, one small file each, and the chain in which they stand in for one another."""
