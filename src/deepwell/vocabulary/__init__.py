"""The words of the house as frozen types. They hold values and know nothing of where these come from."""
