"""Which characters no text of a player may hold: those that steer, and those that turn the direction of the text around.

What looks like one name must not be another.
"""

from typing import Final

CONTROL: Final = r"\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""As they stand between the brackets of a pattern, in Python and in the reference (ECMA 262)."""
