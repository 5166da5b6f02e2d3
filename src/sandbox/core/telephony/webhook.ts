import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { e164 } from '../../schemas/building-blocks.ts';
import { deriveId } from '../random.ts';
import type { PhoneNumber } from '../state/agent.ts';
import type { Switchboard } from './phone-network.ts';

export function voiceWebhookPath(phoneNumberId: string): string {
  return `/_sandbox/telephony/${encodeURIComponent(phoneNumberId)}/voice`;
}

export const telephonySignatureHeader = 'x-telephony-signature';

export const voiceReport = z.strictObject({
  CallSid: z.string().min(1),
  AccountSid: z.string(),
  From: e164,
  To: e164,
  Direction: z.literal('inbound'),
  CallStatus: z.literal('ringing'),
});
export type VoiceReport = z.output<typeof voiceReport>;

export type RejectReason = 'no_agent' | 'outbound_only' | 'no_free_line';

export type VoiceInstruction = { connect: { conversationId: string; agentId: string } } | { reject: { reason: RejectReason } };

/** Key with which the provider signs. Stored account tokens are never opened again, so each process makes a key of its own. */
const providerKey = randomBytes(32);

export function signVoiceReport(url: string, form: string): string {
  return createHmac('sha256', providerKey).update(`${url}\n${form}`).digest('base64');
}

export function isSignedByProvider(url: string, form: string, signature: unknown): boolean {
  if (typeof signature !== 'string') return false;
  const right = Buffer.from(signVoiceReport(url, form));
  const given = Buffer.from(signature);
  return given.length === right.length && timingSafeEqual(given, right);
}

export function writeInstruction(instruction: VoiceInstruction): string {
  const inner =
    'connect' in instruction
      ? `<Connect><Conversation id="${instruction.connect.conversationId}" agent="${instruction.connect.agentId}"/></Connect>`
      : `<Reject reason="${instruction.reject.reason}"/>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${inner}</Response>\n`;
}

export function readInstruction(markup: string): VoiceInstruction | null {
  const connect = /<Conversation id="([^"<>&]+)" agent="([^"<>&]+)"\/>/.exec(markup);
  if (connect !== null) return { connect: { conversationId: connect[1] ?? '', agentId: connect[2] ?? '' } };
  const reject = /<Reject reason="(no_agent|outbound_only|no_free_line)"\/>/.exec(markup);
  return reject === null ? null : { reject: { reason: reject[1] as RejectReason } };
}

/** Has the provider report a call to the number's webhook over HTTP, and do as it is told. Throws for an answer without instruction. */
export async function callIn(
  { settings, state, baseUrl }: Pick<Switchboard, 'settings' | 'state'> & { baseUrl: string },
  number: PhoneNumber,
  from: string,
): Promise<VoiceInstruction> {
  const key = [settings.seed, number.phoneNumberId, from, state.count(`reports from ${from} to ${number.phoneNumberId}`)];
  const report: VoiceReport = {
    CallSid: deriveId('CA', ...key),
    AccountSid: deriveId('AC', settings.seed),
    From: from,
    To: number.phoneNumber,
    Direction: 'inbound',
    CallStatus: 'ringing',
  };
  const url = baseUrl + voiceWebhookPath(number.phoneNumberId);
  const form = new URLSearchParams({ ...report }).toString();
  const { request } = await import('undici');
  const { statusCode, body } = await request(url, {
    method: 'POST',
    reset: true,
    headers: { 'content-type': 'application/x-www-form-urlencoded', [telephonySignatureHeader]: signVoiceReport(url, form) },
    body: form,
  });
  const answer = await body.text();
  const instruction = readInstruction(answer);
  if (statusCode !== 200 || instruction === null)
    throw new Error(`The webhook of ${number.phoneNumberId} answered ${statusCode} without an instruction: ${answer}`);
  return instruction;
}
