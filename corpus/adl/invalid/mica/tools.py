# expect: mica-import @ 2
import subprocess


def free_boats():
    return []
