import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Agent } from '../core/state/agent.ts';
import { callResults, type Call, type CallCourse } from '../core/state/call.ts';

/** A call as JSON can hold it: its agent by key, and null for an end that is not known yet. */
export const callDocument = z.looseObject({
  callId: z.string().min(1),
  conversationId: z.string().min(1),
  direction: z.enum(['outbound', 'inbound']),
  batchId: z.string().nullable(),
  agentId: z.string(),
  phoneNumberId: z.string(),
  to: z.string().min(1),
  nth: z.number().int().min(1),
  variables: z.record(z.string(), z.unknown()),
  acceptedAt: z.number(),
  dialedAt: z.number().nullable(),
  agent: z.string().nullable(),
  course: z
    .looseObject({
      result: z.enum(callResults),
      answeredAt: z.number().nullable(),
      endedAt: z.number().nullable(),
      analysedAt: z.number().nullable(),
      analysisMs: z.number(),
      leastTalkMs: z.number(),
      terminationReason: z.string(),
    })
    .nullable(),
  live: z
    .looseObject({ turns: z.array(z.looseObject({ at: z.number(), until: z.number() })), endedAt: z.number() })
    .nullable(),
  recordedAt: z.number().nullable(),
  recordDeleted: z.boolean(),
});

export type CallDocument = z.output<typeof callDocument>;

const keys = new WeakMap<Agent, string>();

/** A key that the same agent in the same version always has. */
export function agentKey(agent: Agent): string {
  const known = keys.get(agent);
  if (known !== undefined) return known;
  const key = createHash('sha256').update(JSON.stringify(agent)).digest('base64url').slice(0, 22);
  keys.set(agent, key);
  return key;
}

/** Of a call whose record was deleted, what was said is left out. */
export function writeCall(call: Call): Record<string, unknown> {
  const { course, agent } = call;
  return {
    ...call,
    agent: agent === null ? null : agentKey(agent),
    course:
      course === null ? null : { ...course, endedAt: finite(course.endedAt), analysedAt: finite(course.analysedAt) },
    live: call.recordDeleted ? null : call.live,
  };
}

export function readCall(document: CallDocument, agents: ReadonlyMap<string, Agent>): Call {
  const { course, agent } = document;
  const read = {
    override: undefined,
    ...document,
    agent: agent === null ? null : (agents.get(agent) ?? null),
    course:
      course === null
        ? null
        : { ...course, endedAt: course.endedAt ?? Infinity, analysedAt: course.analysedAt ?? Infinity },
  };
  return read as unknown as Call & { course: CallCourse | null };
}

function finite(instant: number): number | null {
  return instant === Infinity ? null : instant;
}
