"""Lets an instructor's tests use a submission that runs in another process.

The tests reach the submission's names through `client`; in the submission's process, `server`
answers with values that `plain_json` encodes. The trusted side relays each message. This package
imports nothing else from the kit.
"""
