import {
  voiceWebhookPath,
  readInstruction,
  signVoiceReport,
  telephonySignatureHeader,
  type VoiceInstruction,
  type VoiceReport,
} from './webhook.ts';
import { deriveId } from '../random.ts';
import type { PhoneNumber } from '../state/agent.ts';
import type { Switchboard } from './phone-network.ts';

/**
 * Somebody calls an imported number: the provider reports it to the number's webhook, over HTTP, and does as it is told. Throws
 * when the webhook does not answer with an instruction, which would be a defect of the sandbox.
 */
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
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      [telephonySignatureHeader]: signVoiceReport(url, form),
    },
    body: form,
  });
  const answer = await body.text();
  const instruction = readInstruction(answer);
  if (statusCode !== 200 || instruction === null)
    throw new Error(`The webhook of ${number.phoneNumberId} answered ${statusCode} without an instruction: ${answer}`);
  return instruction;
}
