# expect: mica-import @ 2
import smtplib


def free_boats():
    return []
