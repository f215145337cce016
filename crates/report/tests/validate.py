"""Validates JSON documents: validate.py SCHEMA DOCUMENT... Prints the first problem of each document
that does not satisfy the schema, and exits with 1 if there is one."""

import json
import sys

from jsonschema import Draft202012Validator

schema, *documents = [json.load(open(path)) for path in sys.argv[1:]]
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
invalid = False
for path, document in zip(sys.argv[2:], documents):
    for error in validator.iter_errors(document):
        print(f"{path}: {error.json_path}: {error.message[:300]}")
        invalid = True
        break
sys.exit(invalid)
