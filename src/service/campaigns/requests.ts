import { jsonOf } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { root } from '../http/paths.ts';
import { isRecord } from '../http/refusal-detail.ts';
import type { Transport } from '../http/transport.ts';
import { isFarAhead, isNamed, nameOf, recipientOf, trialTime } from '../batch-calling/submission.ts';
import type { CallRequest, ListedBatch } from '../port/call-service.ts';
import { BadResponseError } from '../port/errors.ts';
import { campaign, type SeenCampaign } from './schemas.ts';

/** Where campaigns are, below the root of all operations. */
export const collection = 'outbound-campaigns/campaigns';

/** What the name of a fence says to whoever sees it in the service's dashboard. */
const fenceTitle = 'look-up, calls nobody';

/** The body of a request to dial. */
export function bodyOf(request: Omit<CallRequest, 'variablesKey'>): Readonly<Record<string, unknown>> {
  const { mark, agentId, callerId, concurrency, calls } = request;
  return {
    call_name: nameOf(request),
    agent_id: agentId,
    channel_config: { channel: 'phone', agent_phone_number_id: callerId },
    variant: 'simple',
    idempotency_key: mark,
    ...(concurrency === null ? {} : { target_concurrency_limit: concurrency }),
    recipients: calls.map(recipientOf),
  };
}

/**
 * The body of a request that takes the key of another, so that the other can never be carried out any more. Its only recipient is the
 * number that calls are made from: should a service ignore the schedule, it calls itself, and no person. `nowMs`: service time.
 */
export function fenceOf(post: { mark: string; agentId: string; callerId: string }, to: string, nowMs: number): unknown {
  const call = { ref: `fence:${post.mark}`, to, override: null, variables: null };
  return { ...bodyOf({ ...post, title: fenceTitle, concurrency: 1, calls: [call] }), scheduled_time_unix: trialTime(nowMs) };
}

/** Whether a campaign is the request with this mark, or the fence around it; null: neither for certain. */
export function kindOf(seen: SeenCampaign, mark: string): 'request' | 'fence' | null {
  const { call_name: name, created_at_unix: created, scheduled_time_unix: scheduled } = seen;
  if (name === null || created === null || !isNamed(name, mark)) return null;
  const isAhead = isFarAhead(scheduled, created * 1_000);
  const isNamedFence = name === nameOf({ title: fenceTitle, mark });
  if (isAhead !== isNamedFence) return null;
  return isAhead ? 'fence' : 'request';
}

const pageSize = 100;

/** Pages after which a list is one of its own making. */
const mostPages = 1_000;

/** All entries of a list. Throws where it cannot be read to its end: an entry that is not there must not be there. */
export async function readAll(transport: Transport, path: string, key: string, query: Record<string, string> = {}): Promise<unknown[]> {
  const items: unknown[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const success = await transport.read(path, { ...query, page_size: String(pageSize), cursor });
    const page = readPage(jsonOf(success), key);
    const fault = (problem: string) => new BadResponseError(success.request, success.status, [problem]);
    if (page === undefined) throw fault(`no list under "${key}"`);
    items.push(...page.items);
    const { hasMore, nextCursor } = page;
    if (hasMore === false || (hasMore === null && nextCursor === null && page.items.length < pageSize)) return items;
    if (nextCursor === null || cursors.has(nextCursor) || cursors.size === mostPages) throw fault(`"${key}" cannot be read to its end`);
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

/** All campaigns, of one agent or of all; none is ever called again. Throws ServiceError, also where one is listed without id or name. */
export async function* listCampaigns(transport: Transport, agentId?: string): AsyncGenerator<ListedBatch> {
  const path = `${root}/${collection}`;
  for (const entry of await readAll(transport, path, 'campaigns', agentId === undefined ? {} : { agent_id: agentId })) {
    const { campaign_id: id, call_name: name } = campaign.parse(isRecord(entry) ? entry : {});
    if (id === null || name === null)
      throw new BadResponseError({ method: 'GET', path, requestId: null }, 200, ['a campaign without id or name in it']);
    yield { id, name, retries: null };
  }
}
