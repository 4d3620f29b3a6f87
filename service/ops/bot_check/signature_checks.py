"""The checks of signatures, as Standard Webhooks describes them: whatever is not signed with the secret must be refused."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.ops.bot_check.called import CalledBot, fault_of_answer, fault_of_refusal, new_key
from service.ops.bot_check.recorded import Recorded
from service.ops.bot_check.verdict import Verdict, faulty, fine

OLD_S: Final = 600
"""Age of a call that must be refused. Standard Webhooks allows five minutes."""


async def signature_missing(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    task, body = bot.body(recorded[0])
    headers = bot.signed(task, body)
    for missing in (set(headers), *({one} for one in headers)):
        given = {header: value for header, value in headers.items() if header not in missing}
        if fault := fault_of_refusal(await bot.post(body, given)):
            return faulty(
                "signature-missing",
                f"A call without {', '.join(sorted(missing))}: {fault} Otherwise everyone may call it.",
            )
    return fine("signature-missing", "It refused calls without a signature.")


async def signature_wrong(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    name = "signature-wrong"
    task, body = bot.body(recorded[0])
    right = bot.signed(task, body)
    wrong: Mapping[str, tuple[bytes, Mapping[str, str]]] = {
        "signed with another secret": (body, bot.signed(task, body, keys=[new_key()])),
        "whose body was changed": (body + b" ", right),
        "whose id was changed": (body, {**right, "webhook-id": f"{task}1"}),
        "whose timestamp was changed": (body, {**right, "webhook-timestamp": str(int(right["webhook-timestamp"]) + 1)}),
        "whose signature is no base64": (body, {**right, "webhook-signature": "v1,ü?"}),
        "whose timestamp is no number": (body, {**right, "webhook-timestamp": "now"}),
    }
    for what, (content, headers) in wrong.items():
        if fault := fault_of_refusal(await bot.post(content, headers)):
            return faulty(name, f"A call {what}: {fault} Compare the signature before anything else.")
    return fine(name, "It refused calls with a wrong signature.")


async def timestamp_old(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    task, body = bot.body(recorded[0])
    if fault := fault_of_refusal(await bot.post(body, bot.signed(task, body, age_s=OLD_S))):
        return faulty(
            "timestamp-old",
            f"A call that was signed {OLD_S // 60} minutes ago: {fault} Refuse timestamps older than five minutes, so that "
            "nobody can send a call again later.",
        )
    return fine("timestamp-old", "It refused a call that was signed ten minutes ago.")


async def secret_renewed(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """For a day after its secret was renewed, a call has two signatures, in either order for a bot with the old or new secret."""
    one = recorded[0]
    for keys in ([new_key(), bot.secret], [bot.secret, new_key()]):
        task, body = bot.body(one)
        if fault := fault_of_answer(one, await bot.post(body, bot.signed(task, body, keys=keys))):
            return faulty(
                "secret-renewed",
                f"A call with two signatures, as for a day after the secret was renewed: {fault} One right signature of "
                "those in the header, which are separated by spaces, is enough.",
            )
    return fine("secret-renewed", "It accepted calls with two signatures, one of them right.")
