"""Functions of the ferry bot."""


def get_day():
    """The day of the week."""
    return [{"arg": "day", "value": "Monday"}]


def book_crossing(route: str, cabin: bool = False):
    """Books a crossing."""
    return [{"arg": "status", "value": "booked"}]


def find_thing(thing: str, **hints):
    """Looks for a lost thing."""
    return [{"bot": "It is at the desk."}]
