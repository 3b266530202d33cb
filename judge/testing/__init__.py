"""Problems whose answer is a file of tests.

implementations   the reference, its rewrites and its mutants, as sources
session           one run of the file on one of them: two processes, and this one between them
judging           all runs, in an order that tells nothing, within the time that the problem gives
validity          what the runs on correct implementations say about the tests
thoroughness      what the runs on mutants say: the kill matrix
"""
