import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { describeCallTruth, type CallTruth } from '../core/telephony/call-truth.ts';
import { serveControl } from '../http/serve-control.ts';
import { e164 } from '../schemas/building-blocks.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { conflict, existing, type ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { placeForeignCall } from '../core/telephony/inbound.ts';
import { findNumber } from '../core/service/found.ts';
import { callResults, callStates, stateOf, type Call, type CallState, type ForcedCourse } from '../core/state/call.ts';
import { analysisScript } from '../core/world/schema.ts';
import { forcedCourse, hangUpCall } from '../core/telephony/forced-course.ts';

const callsQuery = z.strictObject({
  state: z.enum(callStates).optional(),
  to: e164.optional(),
  batch: z.string().min(1).optional(),
  direction: z.enum(['outbound', 'inbound', 'any']).default('outbound'),
  /** The newest `limit` calls. */
  limit: z.coerce.number().int().min(1).optional(),
});

const course = {
  result: z.enum(callResults),
  silent: z.boolean().default(false),
  opts_out: z.boolean().default(false),
  talk_seconds: z.number().min(1).max(600).optional(),
  analysis: analysisScript.optional(),
};
const hangUpBody = z.strictObject({ hang_up: z.literal('now') });
const courseBody = z.strictObject(course);
const nextCourseBody = z.strictObject({ to: e164, ...course });
const outboundBody = z.strictObject({
  phone_number_id: z.string().min(1),
  to: e164,
  first_message: z.string().min(1).max(2_000).optional(),
  variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  ...course,
});

export function controlCalls(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET /_sandbox/calls', {
    says: 'Lists the calls as they really are.',
    query: callsQuery,
    answer: ({ query }) => ({ calls: listCalls(service, query()) }),
  });

  serveControl(app, 'POST /_sandbox/calls/:call_id/course', {
    says: 'Gives a call that waits or rings another course, or hangs up one in progress.',
    body: z.union([hangUpBody, courseBody]),
    answer: ({ id, request }) => {
      const call = findCall(service, id());
      // An error of the union would not name the wrong field.
      const schema = Object.hasOwn(request.body ?? {}, 'hang_up') ? hangUpBody : courseBody;
      const input = validate<z.output<typeof hangUpBody | typeof courseBody>>(schema, 'body', request.body);
      service.scheduler.runDue();
      if ('hang_up' in input) hangUp(service, call);
      else force(service, call, readCourse(input));
      service.scheduler.runDue();
      return describeCall(service, call);
    },
  });

  serveControl(app, 'POST /_sandbox/outbound', {
    says: 'Has the agent of a number call somebody for another system.',
    body: outboundBody,
    answer: ({ body }) => {
      const { phone_number_id: id, to, first_message: firstMessage, variables, ...input } = body();
      const number = findNumber(service, id);
      if (number.agentId === null) throw refuseField(['body', 'phone_number_id'], 'This number has no agent.', 'no_agent', id);
      const order = { to, firstMessage, variables, course: readCourse(input) };
      return describeCall(service, placeForeignCall(service, number, number.agentId, order));
    },
  });

  serveControl(app, 'POST /_sandbox/numbers/next-course', {
    says: 'Decides how the next call to a number goes.',
    body: nextCourseBody,
    answer: ({ body }) => {
      const { to, ...input } = body();
      const ordered = [...(service.state.nextCourses.get(to) ?? []), readCourse(input)];
      service.state.nextCourses.set(to, ordered);
      return { to, ordered: ordered.length };
    },
  });
}

function readCourse(input: Omit<z.output<typeof nextCourseBody>, 'to'>): ForcedCourse {
  const { result, silent, opts_out: optsOut, talk_seconds: talkSeconds, analysis } = input;
  const pickedUp = result === 'answered' || result === 'voicemail';
  for (const [field, given, allowed] of [
    ['silent', silent, result === 'answered'],
    ['opts_out', optsOut, result === 'answered'],
    ['talk_seconds', talkSeconds !== undefined, pickedUp],
    ['analysis', analysis !== undefined, pickedUp],
  ] as const) {
    if (given && !allowed)
      throw refuseField(['body', field], `Has no meaning with the result "${result}"; leave it out.`, 'not_applicable');
  }
  return { result, silent, optsOut, talkSeconds, analysis };
}

/** A queued call takes the course when dialled, a ringing one at once. Throws 409 for later states. */
function force(service: Service, call: Call, forced: ForcedCourse): void {
  const { network, clock, settings } = service;
  const now = clock.now();
  const state = stateOf(call, now);
  if (state === 'queued') {
    network.order(call, forced, now);
    return;
  }
  if (state !== 'dialing' || call.dialedAt === null)
    throw tooLate(call, state, 'Only a call that is queued or dialing can be given a result.');
  const { seed, meanTalkSeconds } = settings;
  network.redirect(
    call,
    forcedCourse(forced, { seed, to: call.to, nth: call.nth, dialedAt: call.dialedAt, resultAt: now, meanTalkSeconds }),
    now,
  );
}

function hangUp({ network, clock, settings }: Service, call: Call): void {
  const now = clock.now();
  const state = stateOf(call, now);
  if (state !== 'in_progress') throw tooLate(call, state, 'Only a call in progress can be hung up.');
  hangUpCall(network, call, { seed: settings.seed, at: now });
}

function tooLate(call: Call, state: CallState, rule: string): ServiceError {
  const message = `The call ${call.callId} is ${state}. ${rule}`;
  return conflict(`call_is_${state}`, message);
}

function listCalls(service: Service, query: z.output<typeof callsQuery>): CallTruth[] {
  const { state, clock } = service;
  const now = clock.now();
  const outbound = query.direction === 'inbound' ? [] : state.calls;
  const inbound = query.direction === 'outbound' ? [] : state.conversations.inbound;
  const found = [...outbound, ...inbound].filter(
    (call) =>
      (query.state === undefined || stateOf(call, now) === query.state) &&
      (query.to === undefined || call.to === query.to) &&
      (query.batch === undefined || call.batchId === query.batch),
  );
  return (query.limit === undefined ? found : found.slice(-query.limit)).map((call) => describeCall(service, call));
}

function describeCall({ settings, clock }: Service, call: Call): CallTruth & { direction?: 'inbound' } {
  const truth = describeCallTruth(settings.seed, call, clock.now());
  return call.direction === 'inbound' ? { ...truth, direction: 'inbound' } : truth;
}

function findCall({ state }: Service, callId: string): Call {
  const isMeant = (call: Call): boolean => call.callId === callId;
  return existing(state.calls.find(isMeant) ?? state.conversations.inbound.find(isMeant), 'call', callId);
}
