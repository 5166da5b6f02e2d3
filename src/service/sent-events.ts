import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { readJson } from './http/bodies.ts';
import { storableId } from './port/record-values.ts';

/** The published header, and that of the sandbox; both are built alike. */
const signatureHeaders = ['elevenlabs-signature', 'svc-signature'];

/** The published clients refuse what was signed longer ago: `constructEvent` of npm's client 2.73.0, `construct_event` of PyPI's 2.78.0. */
const signatureLastsMs = 30 * 60_000;

/** Why a request is not taken as the service's: `time` where only the clocks, or a replay, speak against it. */
type SignatureFault = 'missing' | 'malformed' | 'time' | 'wrong';

/**
 * Judges `t=<unix seconds>,v0=<hex>`, an HMAC-SHA256 over `<t>.<body>`, by the bytes as they came. Answers when it was signed, by the clock
 * of the service, or the fault. `now`: by that clock, as this process knows it; what is signed far ahead of it is refused as well.
 */
export function judgeSignature(
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

/** What the service has sent by itself. `at`: when it happened, on its clock. */
export type SentEvent =
  | { kind: 'record'; at: number; agentId: string; conversationId: string; document: Readonly<Record<string, unknown>> }
  /** Nobody was reached; the event holds no record. */
  | { kind: 'not_reached'; at: number; agentId: string; conversationId: string }
  /** One that tells nothing here. */
  | { kind: 'other'; type: string };

/** Reads the body of an event; null: it is not one. */
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
      // Where a call that was not answered leaves no record, there is none to name.
      return ids === null ? { kind: 'other', type } : { kind: 'not_reached', at, ...ids };
    default:
      return { kind: 'other', type };
  }
}
