def sell_ticket(harbour: str):
    """Sells a ticket"""
    return [{"status": "success"}]
