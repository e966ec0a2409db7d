"""The steps of a run: vocabulary in, vocabulary out. No stage knows LangGraph, and none imports another."""
