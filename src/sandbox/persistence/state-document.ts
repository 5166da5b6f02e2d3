import { z } from 'zod';
import { redactText } from '../judge/redact.ts';
import { validate } from '../schemas/validate.ts';
import { conflict } from '../core/service-error.ts';
import { numberTypes, type Agent } from '../core/state/agent.ts';
import { sandboxVersion } from '../core/version.ts';
import { worldSchema } from '../core/world/schema.ts';
import { agentKey, callDocument, readCall, writeCall } from './call-document.ts';
import type { ServiceImage } from './service-image.ts';

const format = 'sandbox-state';
const version = 1;

const agent = z.looseObject({
  agentId: z.string().min(1),
  name: z.string(),
  tags: z.array(z.string()),
  config: z.looseObject({}),
  platform: z.looseObject({}),
  createdAt: z.number(),
  updatedAt: z.number(),
});
const course = z.looseObject({ result: z.string(), silent: z.boolean(), optsOut: z.boolean() });
const instant = z
  .number()
  .min(0)
  .max(Date.UTC(9999, 11, 31));
const count = z.number().int().min(0);

const stateDocument = z.strictObject({
  format: z.literal(format),
  version: z.literal(version),
  made_by: z.string(),
  seed: z.string(),
  now: instant,
  ran_until: instant,
  generation: count,
  agents: z.array(z.strictObject({ agentId: z.string().min(1), agent: agent.nullable() })),
  agent_versions: z.record(z.string(), agent),
  numbers: z.array(
    z.looseObject({
      phoneNumberId: z.string().min(1),
      phoneNumber: z.string(),
      label: z.string(),
      agentId: z.string().nullable(),
      type: z.enum(numberTypes),
      provider: z.string(),
      accountSid: z.string().nullable(),
      verified: z.boolean(),
    }),
  ),
  /** Left out by sandboxes that could not delete numbers. */
  number_order: z.array(z.string()).optional(),
  calls: z.array(callDocument),
  record_order: z.array(z.string()),
  counters: z.array(z.tuple([z.string(), count])),
  sip_trunks: z.array(z.looseObject({ trunkId: z.string().min(1), label: z.string(), agentId: z.string().nullable() })),
  next_courses: z.array(z.tuple([z.string(), z.array(course)])),
  batches: z.array(
    z.looseObject({
      batchId: z.string().min(1),
      name: z.string(),
      scheduledAt: z.number(),
      recipients: z.array(z.looseObject({ id: z.string(), callId: z.string() })),
    }),
  ),
  unavailable_models: z.array(z.string()),
  world: worldSchema,
  faults: z.looseObject({ added: count, rules: z.array(z.looseObject({ rule: z.looseObject({ id: z.string() }) })) }),
});

/**
 * The whole state as one document. Secrets are not in it: provider tokens, issued credentials and revoked keys are left out,
 * header values for other services read `[redacted]`.
 */
export function exportState(image: ServiceImage, seed: string, keys: readonly string[]): string {
  const versions = new Map<string, Agent>();
  for (const call of image.calls) if (call.agent !== null) versions.set(agentKey(call.agent), call.agent);
  const document = {
    format,
    version,
    made_by: sandboxVersion,
    seed,
    now: image.now,
    ran_until: image.ranUntil,
    generation: image.generation,
    agents: image.agents,
    agent_versions: Object.fromEntries(versions),
    numbers: image.numbers.map((number) => ({ ...number, sealedToken: undefined })),
    number_order: image.numberOrder,
    calls: image.calls.map(writeCall),
    record_order: image.recordOrder,
    counters: image.counters.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    sip_trunks: image.sipTrunks,
    next_courses: image.nextCourses,
    batches: image.batches,
    unavailable_models: image.unavailableModels,
    world: image.world,
    faults: { ...image.faults, rules: image.faults.rules.map((kept) => ({ ...kept, revoked: [] })) },
  } satisfies Record<keyof z.input<typeof stateDocument>, unknown>;
  return redactText(JSON.stringify(document), keys);
}

/** Reads what `exportState` wrote. Throws 422 for anything else, and 409 when it belongs to another seed. */
export function importState(input: unknown, seed: string): ServiceImage {
  refuseOtherVersion(input);
  validate(stateDocument, 'body', input);
  // As it came: reading it by the schema would put the fields in another order, and answers show that.
  const document = input as z.output<typeof stateDocument>;
  if (document.seed !== seed) {
    const message = `This state was made with the seed "${document.seed}", and what was said in its calls follows from that. Start the sandbox with it (--seed).`;
    throw conflict('other_seed', message, 'seed');
  }
  const versions = new Map<string, Agent>(Object.entries(document.agent_versions));
  return {
    now: document.now,
    ranUntil: document.ran_until,
    generation: document.generation,
    agents: document.agents,
    numbers: document.numbers.map((number) => ({ ...number, sealedToken: null })),
    numberOrder: document.number_order ?? document.numbers.map(({ phoneNumberId }) => phoneNumberId),
    calls: document.calls.map((call) => readCall(call, versions)),
    recordOrder: document.record_order,
    counters: document.counters,
    sipTrunks: document.sip_trunks as unknown as ServiceImage['sipTrunks'],
    nextCourses: document.next_courses as unknown as ServiceImage['nextCourses'],
    batches: document.batches as unknown as ServiceImage['batches'],
    unavailableModels: document.unavailable_models,
    world: document.world,
    faults: document.faults as unknown as ServiceImage['faults'],
    credentials: [],
  };
}

function refuseOtherVersion(input: unknown): void {
  if (typeof input !== 'object' || input === null || !('format' in input) || input.format !== format) return;
  const given = 'version' in input ? input.version : undefined;
  if (typeof given !== 'number' || given === version) return;
  const message = `The document is of version ${given}; this sandbox (${sandboxVersion}) reads version ${version}. Use the sandbox that made it, or export again.`;
  throw conflict('other_version', message, 'version');
}
