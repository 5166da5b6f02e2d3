import { z } from 'zod';
import { conflict } from '../core/service-error.ts';
import { numberTypes } from '../core/state/agent.ts';
import { callResults } from '../core/state/call.ts';
import { sandboxVersion } from '../core/version.ts';
import { analysisScript, worldSchema } from '../core/world/schema.ts';
import { validate } from '../schemas/validate.ts';
import { stateFormat, stateVersion, type StateDocument } from './state.ts';

const { looseObject: holds, string, number, boolean, array } = z;
const id = string().min(1);
const text = string().nullable();
const instant = number()
  .min(0)
  .max(Date.UTC(9999, 11, 31));
const count = number().int().min(0);

function each<Schema extends z.ZodType>(schema: Schema, ...names: string[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

const agent = holds({
  ...each(id, 'agentId'),
  ...each(string(), 'name'),
  ...each(array(string()), 'tags'),
  ...each(holds({}), 'config', 'platform'),
  ...each(number(), 'createdAt', 'updatedAt'),
});
const course = holds({
  result: z.enum(callResults),
  ...each(string(), 'terminationReason'),
  ...each(number(), 'analysisMs', 'leastTalkMs'),
  ...each(number().nullable(), 'answeredAt', 'endedAt', 'analysedAt'),
  analysis: analysisScript.optional(),
});
const forced = holds({ result: string(), ...each(boolean(), 'silent', 'optsOut'), analysis: analysisScript.optional() });
const talk = holds({ turns: array(holds(each(number(), 'at', 'until'))), endedAt: number() });
const call = holds({
  ...each(id, 'callId', 'conversationId', 'to'),
  ...each(string(), 'agentId', 'phoneNumberId'),
  ...each(text, 'batchId', 'agent'),
  ...each(number(), 'acceptedAt'),
  ...each(number().nullable(), 'dialedAt', 'recordedAt'),
  ...each(boolean(), 'recordDeleted'),
  direction: z.enum(['outbound', 'inbound']),
  nth: number().int().min(1),
  variables: z.record(string(), z.unknown()),
  course: course.nullable(),
  forced: forced.optional(),
  live: talk.nullable(),
});
const phoneNumber = holds({
  ...each(id, 'phoneNumberId'),
  ...each(string(), 'phoneNumber', 'label', 'provider'),
  ...each(text, 'agentId', 'accountSid'),
  ...each(boolean(), 'verified'),
  type: z.enum(numberTypes),
});

const document = z.strictObject({
  format: z.literal(stateFormat),
  version: z.literal(stateVersion),
  made_by: string(),
  seed: string(),
  now: instant,
  ran_until: instant,
  generation: count,
  agents: array(z.strictObject({ agentId: id, agent: agent.nullable() })),
  agent_versions: z.record(string(), agent),
  numbers: array(phoneNumber),
  number_order: array(string()).optional(),
  calls: array(call),
  record_order: array(string()),
  counters: array(z.tuple([string(), count])),
  /** From earlier releases; ignored. */
  sip_trunks: z.unknown().optional(),
  unavailable_models: z.unknown().optional(),
  next_courses: array(z.tuple([string(), array(forced)])),
  batches: array(
    holds({ batchId: id, name: string(), scheduledAt: number(), recipients: array(holds({ id: string(), callId: string() })) }),
  ),
  campaigns: array(
    holds({ campaignId: id, name: string(), key: id, createdAt: number(), leads: array(holds({ leadId: id, callId: string() })) }),
  ).optional(),
  world: worldSchema,
  faults: holds({ added: count, rules: array(holds({ rule: holds({ id: string() }) })) }),
} satisfies Record<keyof StateDocument | 'sip_trunks' | 'unavailable_models', z.ZodType>);

/** Reads an export. Throws 422 for anything else, and 409 for another seed or version. */
export function importState(input: Record<string, unknown>, seed: string): StateDocument {
  const { format, version } = input;
  if (format === stateFormat && typeof version === 'number' && version !== stateVersion) {
    const message = `The document is of version ${version}; this sandbox (${sandboxVersion}) reads version ${stateVersion}. Use the sandbox that made it, or export again.`;
    throw conflict('other_version', message, 'version');
  }
  const { seed: own } = validate(document, 'body', input);
  if (own !== seed) {
    const message = `This state was made with the seed "${own}", and what was said in its calls follows from that. Start the sandbox with it (--seed).`;
    throw conflict('other_seed', message, 'seed');
  }
  // Unparsed: the schema would reorder fields, and answers show that order.
  return input as unknown as StateDocument;
}
