# expect: none
def cook(dish, salt=True):
    pass


def serve(dish):
    pass


def lay_table():
    pass
