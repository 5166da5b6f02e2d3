import { refuseHost, type Outbound } from '../core/allowed-host.ts';
import { z } from 'zod';

export const webhookEvents = ['post_call_transcription', 'post_call_audio', 'call_initiation_failure'] as const;

export type WebhookEventType = (typeof webhookEvents)[number];

export const webhookInput = z.strictObject({
  url: z.string().max(2_000),
  secret: z.string().min(8, 'Must have at least 8 characters: it signs what is delivered.').max(200, 'Must have at most 200 characters.'),
  events: z
    .array(z.enum(webhookEvents))
    .min(1, 'Must name at least one event.')
    .default([...webhookEvents]),
  /** Retries after 5xx, 429 and 408. */
  retries: z.boolean().default(false),
  /** Delivers everything twice, as real networks may. */
  duplicates: z.boolean().default(false),
});

export type WebhookInput = z.input<typeof webhookInput>;
export type WebhookFacts = z.output<typeof webhookInput>;

export function refuseAddress(address: string, outbound: Outbound): string | null {
  const refusal = refuseHost(address, outbound);
  if (refusal === null) return null;
  return {
    unreadable: 'Must be an address such as http://127.0.0.1:8080/hook.',
    protocol: 'Must begin with http:// or https://.',
    user: 'Must hold no user name or password; deliveries are signed instead.',
    itself: 'Must not be an address of the sandbox itself.',
    foreign: 'Must be on this machine (127.0.0.1, [::1] or localhost), or on a host that allowOutbound (--allow-outbound) names.',
  }[refusal];
}
