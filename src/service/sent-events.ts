import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { readJson } from './http/bodies.ts';
import { storableId } from './port/record-values.ts';

/** The published header and the sandbox's; both have the same format. */
const signatureHeaders = ['elevenlabs-signature', 'svc-signature'];

/** As in the published clients: `constructEvent` of npm's client 2.73.0, `construct_event` of PyPI's 2.78.0. */
const signatureLastsMs = 30 * 60_000;

/** `time`: authentic, but the clocks differ or it is replayed. */
type SignatureFault = 'missing' | 'malformed' | 'time' | 'wrong';

/**
 * Checks `t=<unix seconds>,v0=<hex>`, an HMAC-SHA256 over `<t>.<body>`, on the raw bytes. Returns when it was signed, or the fault. `now`:
 * the service's clock; a time far ahead of it is rejected too.
 */
export function verifySignature(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  { secrets, now }: { secrets: readonly string[]; now: number },
): { signedAt: number } | { fault: SignatureFault } {
  const header = signatureHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  if (typeof header !== 'string') return { fault: 'missing' };
  const parts = header.split(',').map((part) => part.trim());
  const [seconds, more] = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? []);
  const digests = parts.flatMap((part) => /^v0=([0-9a-f]{64})$/.exec(part)?.[1] ?? []);
  if (seconds === undefined || more !== undefined || digests.length === 0) return { fault: 'malformed' };
  const right = secrets.map((secret) => createHmac('sha256', secret).update(`${seconds}.`).update(body).digest());
  const isSigned = digests.some((digest) => right.some((each) => timingSafeEqual(each, Buffer.from(digest, 'hex'))));
  if (!isSigned) return { fault: 'wrong' };
  const signedAt = Number(seconds) * 1000;
  return Math.abs(now - signedAt) > signatureLastsMs ? { fault: 'time' } : { signedAt };
}

const word = z.string().regex(/^[\x21-\x7e]{1,200}$/);
const event = z.object({ type: word, event_timestamp: z.number().int().min(0).max(1e11), data: z.record(z.string(), z.unknown()) });
const conversation = z.object({ agent_id: word, conversation_id: word });

/** An event that the service sent. `at`: when it happened, on its clock. */
export type SentEvent =
  | { kind: 'record'; at: number; agentId: string; conversationId: string; document: Readonly<Record<string, unknown>> }
  /** The recipient was not reached; there is no record. */
  | { kind: 'not_reached'; at: number; agentId: string; conversationId: string }
  /** Not used here. */
  | { kind: 'other'; type: string };

/** Parses the body of an event; null: not one. */
export function readSentEvent(body: Buffer): SentEvent | null {
  const read = event.safeParse(readJson(body));
  if (!read.success) return null;
  const { type, event_timestamp: seconds, data } = read.data;
  const at = seconds * 1000;
  const named = conversation.safeParse(data);
  const ids = named.success ? { agentId: named.data.agent_id, conversationId: storableId(named.data.conversation_id) } : null;
  switch (type) {
    case 'post_call_transcription':
      return ids === null ? null : { kind: 'record', at, ...ids, document: data };
    case 'call_initiation_failure':
      // An unanswered call may leave no record to name.
      return ids === null ? { kind: 'other', type } : { kind: 'not_reached', at, ...ids };
    default:
      return { kind: 'other', type };
  }
}
