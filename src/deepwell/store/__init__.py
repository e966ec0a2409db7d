"""What Deepwell keeps between runs, in SQLite files under the user's Deepwell home."""
