"""Run these with `python -m unittest`. They call the bot at a real port, with the signed body of `sample_task.json`."""

import base64
import hmac
import json
import threading
import time
import unittest
from http.client import HTTPConnection
from pathlib import Path
from unittest import mock

from bot import Bot, task_of
from signature import key_of
from test_strategy import fits

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = Path(__file__).with_name("sample_task.json").read_bytes()
TASK = json.loads(BODY)


def signed(body, task=TASK["task"], age_s=0, secret=SECRET):
    sent_at = str(int(time.time()) - age_s)
    signature = hmac.digest(key_of(secret), f"{task}.{sent_at}.".encode() + body, "sha256")
    value = f"v1,{base64.b64encode(signature).decode()}"
    return {"webhook-id": task, "webhook-timestamp": sent_at, "webhook-signature": value}


class BotTest(unittest.TestCase):
    def setUp(self):
        self.bot = Bot(("127.0.0.1", 0), key_of(SECRET))
        threading.Thread(target=self.bot.serve_forever, args=(0.01,)).start()
        self.addCleanup(self.bot.server_close)
        self.addCleanup(self.bot.shutdown)

    def call(self, body, headers):
        """The status and the body of the answer to a call."""
        connection = HTTPConnection("127.0.0.1", self.bot.server_port, timeout=10)
        self.addCleanup(connection.close)
        connection.request("POST", "/", body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def test_the_answer_to_a_call_is_a_legal_action(self):
        status, answer = self.call(BODY, signed(BODY))
        self.assertEqual(status, 200)
        chosen = json.loads(answer)["action"]
        self.assertTrue(any(fits(chosen, entry) for entry in TASK["legal_actions"]))

    def test_the_same_call_gets_the_same_answer(self):
        actions = iter([{"type": "one"}, {"type": "another"}])
        with mock.patch("bot.choose", lambda *_: next(actions)):
            self.assertEqual(self.call(BODY, signed(BODY)), self.call(BODY, signed(BODY)))

    def test_a_call_that_is_not_signed_with_the_secret_is_refused(self):
        other = "whsec_" + base64.b64encode(bytes(32)).decode()
        changed = {**signed(BODY), "webhook-id": "another"}
        for headers in ({}, signed(BODY, secret=other), signed(BODY, age_s=600), signed(BODY + b" "), changed):
            self.assertEqual(self.call(BODY, headers)[0], 401)

    def test_one_right_signature_of_two_is_enough(self):
        right, wrong = signed(BODY), signed(BODY, secret="whsec_" + base64.b64encode(bytes(32)).decode())
        both = f"{wrong['webhook-signature']} {right['webhook-signature']}"
        self.assertEqual(self.call(BODY, {**right, "webhook-signature": both})[0], 200)

    def test_a_body_that_is_no_task_is_refused(self):
        for body in (b"", b"{}", b"[]", b"no JSON", b'{"type":"task"}', b"[" * 100_000):
            self.assertEqual(self.call(body, signed(body))[0], 400)

    def test_a_strategy_that_waits_answers_204_and_one_that_fails_500(self):
        with mock.patch("bot.choose", lambda *_: None):
            self.assertEqual(self.call(BODY, signed(BODY)), (204, b""))
        with mock.patch("bot.choose", mock.Mock(side_effect=KeyError)), mock.patch("traceback.print_exc"):
            another = BODY + b" "
            self.assertEqual(self.call(another, signed(another))[0], 500)

    def test_members_that_it_does_not_know_are_ignored(self):
        self.assertEqual(task_of(json.dumps({**TASK, "later": 1}))["match"], TASK["match"])


if __name__ == "__main__":
    unittest.main()
