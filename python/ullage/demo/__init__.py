"""Small real trainings that take part in the sharing: for demonstrations and for the system's own tests."""
