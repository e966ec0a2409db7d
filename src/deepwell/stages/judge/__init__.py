"""The rules that steer the loop, as pure functions: the runtime decides, the analyst only proposes."""
