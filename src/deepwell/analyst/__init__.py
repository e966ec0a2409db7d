"""Whom the runtime asks for a judgement: one protocol, several implementations."""
