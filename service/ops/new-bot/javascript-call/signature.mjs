// Signatures of calls, as Standard Webhooks describes them (standardwebhooks.com), with nothing but Node.

import { createHmac, timingSafeEqual } from "node:crypto";

const MAX_AGE_S = 300; // calls that were signed earlier are refused, so that nobody can send one again later

// The bytes of a secret such as whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw. Throws if it has another form.
export function keyOf(secret) {
  if (!/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) throw new Error("a secret is whsec_ and base64");
  return Buffer.from(secret.slice("whsec_".length), "base64");
}

// What is wrong with the signature of a call, given the bytes of its body as they arrived; null if it is right.
export function faultOf(key, headers, body) {
  const [task, sentAt, given] = ["id", "timestamp", "signature"].map((name) => headers[`webhook-${name}`] ?? "");
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(Date.now() / 1000 - Number(sentAt)) > MAX_AGE_S) {
    return "webhook-timestamp is not a time of the last five minutes";
  }
  const right = Buffer.from(`v1,${createHmac("sha256", key).update(`${task}.${sentAt}.`).update(body).digest("base64")}`);
  // For a day after the secret was renewed there are two signatures.
  const isRight = (one) => one.length === right.length && timingSafeEqual(one, right);
  const found = given.split(" ").map((one) => Buffer.from(one));
  return found.some(isRight) ? null : "webhook-signature is not that of this secret";
}
