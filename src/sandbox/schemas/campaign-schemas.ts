import { z } from 'zod';
import { e164, identifier, objectOf, type SchemaMode } from './building-blocks.ts';

const freeForm = z.record(z.string(), z.unknown());
const count = z.number().int();

function anyOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  const value = z.enum(values);
  return z
    .union([value, z.array(value)])
    .transform((given) => [given].flat())
    .optional();
}

/** From the published Python client's types. `clientData`: initial data of a recipient's conversation. */
export function createCampaignSchemas<ClientData extends z.ZodType, Telephony extends z.ZodRawShape>(
  mode: SchemaMode,
  parts: {
    clientData: ClientData;
    telephony: z.ZodObject<Telephony>;
    mostRecipients: number;
    page: { cursor: z.ZodType<string | undefined>; page_size: z.ZodType<number> };
  },
) {
  const { clientData, telephony, mostRecipients, page } = parts;
  const recipient = objectOf(mode, {
    id: identifier.nullish(),
    phone_number: e164.nullish(),
    phone_numbers: z.array(e164).nullish(),
    conversation_initiation_client_data: clientData,
  });
  return {
    submitCampaign: objectOf(mode, {
      call_name: z.string().min(1, 'Must not be empty.').max(500),
      agent_id: identifier,
      recipients: z
        .array(recipient)
        .min(1, 'Must hold at least one recipient.')
        .max(mostRecipients, `Must hold at most ${mostRecipients} recipients; send the rest in another campaign.`),
      channel_config: objectOf(mode, {
        channel: z.literal('phone', 'Must be phone: the sandbox has no other channel.'),
        agent_phone_number_id: identifier,
        mode_config: telephony.extend({ mode: z.literal('voice').nullish() }).nullish(),
      }),
      scheduled_time_unix: count.min(0, 'Must be a time in whole seconds since 1970.').nullish(),
      timezone: z.string().max(100).nullish(),
      branch_id: identifier.nullish(),
      environment: identifier.nullish(),
      target_concurrency_limit: count.min(1).nullish(),
      idempotency_key: identifier.nullish(),
      policy: freeForm.nullish(),
      variant: z.enum(['simple', 'advanced']).nullish(),
    }),
    campaignPage: objectOf(mode, {
      ...page,
      status: anyOf(['active', 'paused', 'stopping', 'stopped', 'completed', 'failed', 'attention']),
      agent_id: identifier.optional(),
      channel: z.enum(['phone', 'whatsapp']).optional(),
      mode: z.enum(['voice', 'message']).optional(),
      search: z.string().max(500).optional(),
    }),
    campaignCallPage: objectOf(mode, {
      ...page,
      lead_id: identifier.optional(),
      status: z.enum(['queued', 'submitted', 'completed', 'cancelled', 'attention']).optional(),
      call_result: anyOf(['answered', 'voicemail', 'busy', 'no_answer', 'failed']),
    }),
    leadPage: objectOf(mode, {
      ...page,
      search: z.string().max(500).optional(),
      status: z.enum(['in_progress', 'finished']).optional(),
      disposition: anyOf([
        'campaign_ended',
        'removed',
        'do_not_call',
        'completed',
        'cancelled',
        'suppressed',
        'attempt_ceiling_reached',
        'callback_ceiling_reached',
        'redirect_ceiling_reached',
        'permission_not_granted',
        'permission_declined',
        'permission_request_blocked',
        'permission_expired',
        'callback_time_invalid',
        'redirect_number_invalid',
        'couldnt_process',
      ]),
    }),
  };
}
