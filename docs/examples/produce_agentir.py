"""Writes AgentIR for a small agent: a program of one's own as the source, standard library only.

    python3 produce_agentir.py > parking.ir.json
    agentir check parking.ir.json
"""

import json
import sys

# What a real producer reads from its own format.
SOURCE = "parking.flow"
FIELDS = [("plate", "string", "What is your licence plate?"), ("hours", "number", "For how many hours?")]


def origin(line):
    """Where the author wrote something: findings name it."""
    return {"origin": {"file": SOURCE, "line": line}}


def agent(name, goal, **parts):
    """An agent with the keys that every agent needs, and its own."""
    metadata = {"name": name, "dialect": "abl"}
    return {"ir_version": "1.0", "metadata": metadata, "identity": {"goal": goal}, **parts}


def collect(name, kind, question):
    return {"name": name, "type": kind, "prompt": question}


DESK = agent(
    "Parking_Desk",
    "Sell parking tickets.",
    tools=[{
        "name": "quote_price",
        "description": "The price of parking, in euros.",
        "parameters": [{"name": "hours", "type": "number"}],
        "returns": {"type": "{total: number}"},
    }],
    flow={"definitions": {
        "ask": {"gather": {"fields": [collect(*field) for field in FIELDS]}, "then": "price", **origin(3)},
        "price": {
            "call": "quote_price",
            "call_spec": {"tool": "quote_price", "with": [{"name": "hours", "value": "hours"}], "as": "quote"},
            "then": "decide",
            **origin(7),
        },
        "decide": {
            "branches": [
                {"condition": "quote.total > 20", "handoff": {"agent": "Garage"}},
                {"respond": "That is {{quote.total}} euros for {{plate}}.", "then": "COMPLETE"},
            ],
            **origin(11),
        },
    }},
    coordination={"handoffs": [{"to": "Garage", "context": {"pass": [{"name": "plate"}]}}]},
)
GARAGE = agent("Garage", "Advise customers on long-term parking.")

program = {"version": "1.0", "entry_agent": "Parking_Desk", "agents": {"Parking_Desk": DESK, "Garage": GARAGE}}
json.dump(program, sys.stdout, indent=2)
