import type { AgentFacts, CallService } from '../../service/port/call-service.ts';
import { RefusedError } from '../../service/port/errors.ts';
import { explainFaults, type CallerFault, type CallerStatus } from '../../rules/caller-choice.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { deniedSettings, withOpeningLine } from '../../rules/conversation-override.ts';
import { didYouMean } from '../../rules/nearest-name.ts';
import { readPhoneNumber } from '../../shared/input/phone-number.ts';
import { regionsOfNumber } from '../../shared/geography/number-places.ts';

export type CallerCheck =
  /** At least one number may call. `proven`: the service confirms all usable numbers. `notes`: warnings. */
  | { ok: true; proven: boolean; numbers: readonly CallerStatus[]; notes: readonly string[] }
  /** What the operator has to fix; contains ids only. `numbers` is empty if an earlier check failed. */
  | { ok: false; reason: string; numbers: readonly CallerStatus[] };

export async function checkNumbers(service: CallService, ids: readonly string[]): Promise<CallerCheck> {
  const listed = new Map((await service.callers(ids)).map((number) => [number.id, number]));
  const numbers = ids.map((phoneNumberId): CallerStatus => {
    const number = listed.get(phoneNumberId);
    const verified = number?.verified ?? null;
    const fault: CallerFault | null = number === undefined ? 'unknown' : verified === false ? 'not_verified' : null;
    const reading = readPhoneNumber(number?.number ?? '', null);
    if (!reading.ok) return { phoneNumberId, e164: null, country: null, regions: null, fault, verified };
    const { e164, country } = reading;
    // Regions only matter when choosing the nearest of several numbers.
    return { phoneNumberId, e164, country, regions: ids.length > 1 ? regionsOfNumber(e164) : null, fault, verified };
  });
  const fit = numbers.filter(({ fault }) => fault === null);
  if (fit.length === 0) return { ok: false, reason: explainFaults(numbers), numbers };
  return { ok: true, proven: fit.every(({ verified }) => verified === true), numbers, notes: [] };
}

/** Why a new campaign must not start, without a full stop; null: it may. Requires every number in its file, unlike a running campaign. */
export function startRefusal(check: CallerCheck): string | null {
  if (!check.ok) return check.reason;
  return check.numbers.every(({ fault }) => fault === null) ? null : explainFaults(check.numbers);
}

export type Caller = Pick<CampaignRules, 'agentId' | 'callers' | 'firstMessage' | 'override'> &
  Partial<Pick<CampaignRules, 'optOut' | 'results'>>;

export async function checkCaller(service: CallService, caller: Caller): Promise<CallerCheck> {
  let notes: readonly string[] = [];
  try {
    const { permitted = null, keys } = await service.agent(caller.agentId);
    const sent = withOpeningLine(caller.override ?? null, caller.firstMessage) ?? {};
    const denied = permitted === null ? [] : deniedSettings(sent, permitted);
    notes = keys === undefined ? [] : explainMissingKeys(caller, keys);
    if (denied.length > 0) return { ok: false, reason: explainDenied(caller.agentId, denied), numbers: [] };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.status === 401 || error.status === 403)
      return {
        ok: false,
        reason: `The service refuses the API key (${error.status}): set SVC_API_KEY, or SVC_API if the key is right (carillon doctor says which)`,
        numbers: [],
      };
    return {
      ok: false,
      reason: `The service does not know agent ${caller.agentId} (${error.status}): correct agent_id in the campaign file`,
      numbers: [],
    };
  }
  const numbers = await checkNumbers(service, caller.callers.numbers);
  return numbers.ok ? { ...numbers, notes } : numbers;
}

function explainMissingKeys({ agentId, optOut = [], results = [] }: Caller, keys: NonNullable<AgentFacts['keys']>): string[] {
  const ruleKeys = [
    ...optOut.map((value) => ['opt_out', value] as const),
    ...results.flatMap(({ value }) => (value === null ? [] : [['results', value] as const])),
  ];
  const missing = ruleKeys.flatMap(([setting, { source, key }]) => {
    if (keys[source].includes(key)) return [];
    const what = source === 'collected' ? 'collects no value' : 'is evaluated by no criterion';
    const nearest = didYouMean(key, keys[source]);
    return [`${setting}: agent ${agentId} ${what} ${JSON.stringify(key)}, so this rule never holds${nearest && `.${nearest}`}`];
  });
  return [...new Set(missing)];
}

function explainDenied(agentId: string, denied: readonly string[]): string {
  return `Agent ${agentId} does not let a call change ${denied.join(', ')}, so every call would fail: permit it in the agent's settings (overrides), or take it out of the campaign file`;
}
