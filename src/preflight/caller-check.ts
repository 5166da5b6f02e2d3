import type { ConvaiClient } from '../service/convai/client.ts';
import { BadResponseError, RefusedError } from '../service/port/errors.ts';
import { explainFaults, type CallerFault, type CallerStanding } from '../domain/caller-choice.ts';
import type { CampaignRules } from '../domain/campaign-rules.ts';
import { readPhoneNumber } from '../domain/phone-number.ts';
import { regionsOfNumber } from '../place/number-regions.ts';

export type CallerCheck =
  /** At least one number may call. `proven`: the service itself says so of all that may; otherwise the first calls have to show it. */
  | { ok: true; proven: boolean; numbers: readonly CallerStanding[] }
  /** What a person has to mend; holds ids only. The numbers are missing when it did not come to them. */
  | { ok: false; reason: string; numbers: readonly CallerStanding[] };

function verificationOf(number: Record<string, unknown>): boolean | null {
  if (typeof number['verified'] === 'boolean') return number['verified'];
  const status = number['verification_status'];
  return typeof status === 'string' ? status === 'verified' : null;
}

/**
 * Asks the service whether it knows the caller numbers, and whether they are verified where it tells. One read.
 * Throws what the client throws when the service cannot be asked.
 */
export async function checkNumbers(client: ConvaiClient, ids: readonly string[]): Promise<CallerCheck> {
  let unusable = 0;
  const usable = await client.listPhoneNumbers({ onUnusable: (entries) => void (unusable += entries) });
  const listed = new Map(usable.map((number) => [number.phone_number_id, number]));
  const missing = ids.filter((id) => !listed.has(id));
  // One of those that cannot be read may be the number that is looked for.
  if (unusable > 0 && missing.length > 0) throw badList(unusable, missing);
  const numbers = ids.map((phoneNumberId): CallerStanding => {
    const number = listed.get(phoneNumberId);
    const verified = number === undefined ? null : verificationOf(number);
    const fault: CallerFault | null = number === undefined ? 'unknown' : verified === false ? 'not_verified' : null;
    const reading = readPhoneNumber(number?.phone_number ?? '', null);
    if (!reading.ok) return { phoneNumberId, e164: null, country: null, regions: null, fault, verified };
    const { e164, country } = reading;
    // A single number has nobody to be nearer than.
    return { phoneNumberId, e164, country, regions: ids.length > 1 ? regionsOfNumber(e164) : null, fault, verified };
  });
  const fit = numbers.filter(({ fault }) => fault === null);
  if (fit.length === 0) return { ok: false, reason: explainFaults(numbers), numbers };
  return { ok: true, proven: fit.every(({ verified }) => verified === true), numbers };
}

function badList(unusable: number, missing: readonly string[]): BadResponseError {
  const request = { method: 'GET', path: '/v1/convai/phone-numbers', requestId: null };
  const problem = `${String(unusable)} of its entries cannot be used, and ${missing.join(', ')} is not among the others`;
  return new BadResponseError(request, 200, [problem]);
}

/**
 * Asks the service whether it knows the agent, then about the numbers that call. Two reads.
 * Throws what the client throws when the service cannot be asked.
 */
export async function checkCaller(
  client: ConvaiClient,
  caller: Pick<CampaignRules, 'agentId' | 'callers'>,
): Promise<CallerCheck> {
  try {
    await client.getAgent(caller.agentId);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.status === 401 || error.status === 403)
      return { ok: false, reason: `The service refuses the API key (${error.status}): set SVC_API_KEY`, numbers: [] };
    return {
      ok: false,
      reason: `The service does not know agent ${caller.agentId} (${error.status}): correct agent_id in the campaign file`,
      numbers: [],
    };
  }
  return checkNumbers(client, caller.callers.numbers);
}
