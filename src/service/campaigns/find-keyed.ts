import { parseBody } from '../http/bodies.ts';
import { pathOf, root } from '../http/paths.ts';
import { isRecord } from '../http/refusal-detail.ts';
import type { Transport } from '../http/transport.ts';
import { isNamed } from '../batch-calling/submission.ts';
import type { Found, ServiceReads } from '../port/call-service.ts';
import { OutcomeUnknownError, RateLimitedError, ServiceError } from '../port/errors.ts';
import { collection, fenceOf, kindOf, readAll } from './requests.ts';
import { campaign, submitted, type SeenCampaign } from './schemas.ts';

/** For how long a service is trusted to keep a key. After that a new campaign under it does not prove that there was none before. */
const keyKeptMs = 12 * 3_600_000;

/** How often a fence is stopped within one look-up. */
const mostStops = 3;

interface Sought {
  mark: string;
  agentId: string;
  callerId: string;
  since: number;
}

/**
 * Looks for a request by its key. What the list shows is there. Of what it does not show, a fence decides: a second request with the same
 * key, which either meets the campaign of the first, or takes the key away from it for ever, and is stopped at once.
 */
export async function findKeyed(transport: Transport, reads: ServiceReads, sought: Sought): Promise<Found> {
  try {
    return await find(transport, reads, sought);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { retryAfterMs = null } = error instanceof RateLimitedError ? error : {};
    return { kind: 'not_readable', ...(retryAfterMs === null ? {} : { retryAfterMs }) };
  }
}

async function find(transport: Transport, reads: ServiceReads, sought: Sought): Promise<Found> {
  const { mark, agentId, callerId, since } = sought;
  const listed = await listNamed(transport, sought);
  const requests = listed.filter((entry) => kindOf(entry, mark) === 'request').flatMap(({ campaign_id: id }) => id ?? []);
  const [first, ...others] = requests;
  if (first !== undefined && others.length > 0) return { kind: 'several', serviceBatchIds: requests };
  if (first !== undefined) return { kind: 'accepted', serviceBatchId: first };
  // What is named like it and is neither it nor a fence may be it all the same.
  if (listed.some((entry) => kindOf(entry, mark) !== 'fence')) return { kind: 'not_readable' };

  const to = (await reads.callers([callerId])).find(({ id }) => id === callerId)?.number?.replaceAll(/[\s().-]/g, '') ?? '';
  if (!/^\+[1-9]\d{1,14}$/.test(to)) return { kind: 'not_readable' };
  const now = Math.max(since, reads.clockReadings().last?.serverMs ?? since);
  const met = await submitFence(transport, sought, fenceOf({ mark, agentId, callerId }, to, now));
  const id = met?.campaign_id ?? null;
  if (met === null || id === null) return { kind: 'not_readable' };
  const kind = kindOf(met, mark);
  if (kind === 'request') return { kind: 'accepted', serviceBatchId: id };
  if (kind === null || !(await stop(transport, id))) return { kind: 'not_readable' };
  return { kind: 'absent', certain: (met.created_at_unix ?? Infinity) * 1_000 - since <= keyKeptMs };
}

/** The campaigns that are named with the mark, or may be. */
async function listNamed(transport: Transport, { mark, agentId }: Sought): Promise<SeenCampaign[]> {
  const entries = await readAll(transport, `${root}/${collection}`, 'campaigns', { agent_id: agentId, search: mark });
  const read = entries.map((entry) => campaign.parse(isRecord(entry) ? entry : {}));
  return read.filter(({ call_name: name }) => name === null || isNamed(name, mark));
}

/** The campaign that has the key now; null: it cannot be told which. */
async function submitFence(transport: Transport, sought: Sought, fence: unknown): Promise<SeenCampaign | null> {
  const body = Buffer.from(JSON.stringify(fence));
  try {
    const success = await transport.write({ method: 'POST', path: `${root}/${collection}/submit`, body, dials: true });
    const { campaign: met } = parseBody(success, submitted);
    if (met?.campaign_id == null) return null;
    // As it stands there, which its own answer need not say.
    return parseBody(await transport.read(pathOf('GET', collection, met.campaign_id)), campaign);
  } catch (error) {
    // A key that is refused with another body is in use: by whom, the list tells.
    if (!(error instanceof OutcomeUnknownError) || error.status !== 409) throw error;
    const [met, ...more] = await listNamed(transport, sought);
    return more.length > 0 ? null : (met ?? null);
  }
}

/** Whether nobody is called by a campaign any more, and no call of it goes on. */
async function stop(transport: Transport, campaignId: string): Promise<boolean> {
  for (let stops = 0; stops < mostStops; stops += 1) {
    const success = await transport.write({ method: 'POST', path: `${pathOf('POST', collection, campaignId)}/stop`, body: null });
    const { status } = parseBody(success, campaign);
    if (['stopped', 'completed', 'failed'].includes(status ?? '')) return true;
  }
  return false;
}
