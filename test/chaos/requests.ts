import type { ServiceApi } from '../../src/rules/service-api.ts';
import { isRecord } from '../../src/service/http/refusal-detail.ts';
import type { Transition } from './effect-log.ts';

const named: readonly [RegExp, string][] = [
  [/^POST (phone-numbers\/batch-calls|.*\/submit)$/, 'POST'],
  [/^GET conversations$/, 'GET the list'],
  [/^GET conversations\/[^/]+$/, 'GET a record'],
  [/^GET batch-calling\/workspace$/, 'GET the batches'],
  [/^GET batch-calling\/[^/]+$/, 'GET a report'],
  [/^POST batch-calling\/[^/]+\/cancel$/, 'POST a cancel'],
  [/^GET outbound-campaigns\/campaigns$/, 'GET the campaigns'],
  [/^GET outbound-campaigns\/campaigns\/[^/]+\/calls$/, 'GET the calls'],
  [/^GET outbound-campaigns\/campaigns\/[^/]+\/leads$/, 'GET the leads'],
  [/^GET outbound-campaigns\/campaigns\/[^/]+$/, 'GET a campaign'],
  [/^POST outbound-campaigns\/campaigns\/[^/]+\/stop$/, 'POST a stop'],
  [/^DELETE outbound-campaigns\/campaigns\/[^/]+\/leads\/[^/]+$/, 'DELETE a lead'],
];

/** Null: not about calls. */
export function nameRequest(method: string, path: string, body: Buffer | null = null): string | null {
  const [, name = null] = named.find(([pattern]) => pattern.test(`${method} ${path.replace('/v1/convai/', '')}`)) ?? [];
  if (name !== 'POST') return name;
  const sent: unknown = JSON.parse(body?.toString() ?? '{}');
  if (!isRecord(sent)) return 'POST';
  if ('scheduled_time_unix' in sent) return 'POST the fence';
  const calls = sent['calls'] ?? sent['recipients'];
  return `POST ${Array.isArray(calls) ? calls.length : 0} calls`;
}

const ofRequests = (what: string): Transition => `request ${what.replace(/\d+ calls$/, 'calls')}`;

/** Rows of the matrix: where a service reports its calls, a request counts like a state change. */
export function requestsOf(api: ServiceApi, what: string): Transition[] {
  return api === 'contract' ? [] : [ofRequests(what)];
}

export function possibleRequests(api: ServiceApi): readonly Transition[] {
  const others = { contract: /./, 'batch-calling': /outbound/, campaigns: /batch-calling/ }[api];
  return ['POST calls', ...(api === 'campaigns' ? ['POST the fence'] : [])]
    .concat(named.slice(1).flatMap(([pattern, name]) => (others.test(pattern.source) ? [] : [name])))
    .map(ofRequests);
}
