import { checkCaller, startRefusal, type Caller } from '../../../campaign/preflight/caller-check.ts';
import type { Config } from '../../../shared/config.ts';
import type { CallService } from '../../../service/port/call-service.ts';
import type { ServiceClock } from '../../../service/port/service-clock.ts';
import type { CallerStatus } from '../../../rules/caller-choice.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { printableLines, printable } from '../../../shared/input/printable.ts';
import { readClock, ServiceUnusableError, withService } from '../service.ts';
import type { ConversationFacts } from '../../../rules/conversation-facts.ts';

export interface NotAsked {
  asked: false;
  reason: string;
}

export type ServiceState =
  | NotAsked
  | {
      asked: true;
      url: string;
      agentId: string;
      /** Empty before the service was asked. `verified`: null when not reported. */
      callers: Pick<CallerStatus, 'phoneNumberId' | 'fault' | 'verified'>[];
      /** Why the service prevents a start, and what to do; null: it does not. */
      refusal: string | null;
      notes: readonly string[];
    };

const limitMs = 5_000;

/** The service's clock, which windows use; null when it does not answer, or must not be asked. */
export async function clockOfService(config: Config): Promise<ServiceClock | null> {
  if (config.SVC_API_KEY === undefined) return null;
  try {
    return await readClock(config, limitMs);
  } catch (error) {
    if (error instanceof ServiceUnusableError) return null;
    throw error;
  }
}

/** The service's answer, or why there is none. Throws ConfigError. */
export async function askIfPossible<Answer extends object>(
  config: Config,
  ask: (service: CallService) => Promise<Answer>,
): Promise<NotAsked | ({ asked: true } & Answer)> {
  if (config.SVC_API_KEY === undefined) return { asked: false, reason: 'SVC_API_KEY is not set' };
  try {
    return { asked: true, ...(await withService(config, ask)) };
  } catch (error) {
    if (!(error instanceof ServiceUnusableError)) throw error;
    return { asked: false, reason: printableLines(error.message) };
  }
}

export function checkService(config: Config, caller: Caller): Promise<ServiceState> {
  return askIfPossible(config, async (service) => {
    const check = await checkCaller(service, caller);
    return {
      url: config.SVC_BASE_URL,
      agentId: caller.agentId,
      callers: check.numbers.map(({ phoneNumberId, fault, verified }) => ({ phoneNumberId, fault, verified })),
      refusal: startRefusal(check),
      notes: check.ok ? check.notes : [],
    };
  });
}

/** Long lists are cut. */
export interface ServiceOffers {
  agents: Offer[];
  numbers: Offer[];
}

interface Offer {
  id: string;
  /** For display, on one line. */
  name: string;
}

const mostOffers = 500;
const offersLimitMs = 5_000;

/** Answers a state, without throwing, when the service does not answer within seconds. Throws ConfigError. */
export async function readServiceOffers(config: Config): Promise<NotAsked | ({ asked: true } & ServiceOffers)> {
  return askIfPossible(soonOf(config), async (service) => {
    const agents: Offer[] = [];
    for await (const { id, name } of service.agents()) {
      if (agents.length >= mostOffers) break;
      agents.push({ id, name: printable(name ?? id) });
    }
    const numbers = (await service.callers()).slice(0, mostOffers);
    return {
      agents,
      numbers: numbers.map(({ id, number, label }) => ({
        id,
        name: printable([number, label].filter((text) => text !== null && text !== '').join(' · ') || id),
      })),
    };
  });
}

/** An agent's default values by variable name; empty when the service cannot be asked. Throws ConfigError. */
export async function readPlaceholders(config: Config, agentId: string): Promise<Readonly<Record<string, string>>> {
  const answer = await askIfPossible(soonOf(config), async (service) => ({
    placeholders: (await service.agent(agentId)).placeholders ?? {},
  }));
  return answer.asked ? answer.placeholders : {};
}

function soonOf(config: Config): Config {
  const soonest = (ms: number) => Math.min(ms, offersLimitMs);
  return {
    ...config,
    SVC_CONNECT_TIMEOUT_MS: soonest(config.SVC_CONNECT_TIMEOUT_MS),
    SVC_HEADERS_TIMEOUT_MS: soonest(config.SVC_HEADERS_TIMEOUT_MS),
  };
}

export type RecordsState =
  | NotAsked
  | {
      asked: true;
      /** Finished outbound records read, of the agent's newest. */
      read: number;
      /** `naming`: with the number or a reference. `silent`: possible talks with neither, nor any words. */
      naming: number;
      silent: number;
    };

/** Records listed, and the most of them that are read. */
const listed = 200;
const mostRead = 20;

type ReadRules = Pick<CampaignRules, 'agentId' | 'correlation' | 'timing'>;

export function checkRecords(config: Config, rules: ReadRules): Promise<RecordsState> {
  return askIfPossible(config, (service) => readNewest(service, rules));
}

async function readNewest(service: CallService, { agentId, correlation, timing }: ReadRules) {
  const pointers = { ...correlation, values: [] };
  const entries: ConversationFacts[] = [];
  for await (const facts of service.allRecords({ agentId }, pointers)) if (entries.push(facts) === listed) break;
  const newest = entries.filter(({ direction }) => direction !== 'inbound').sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0));
  const found = { read: 0, naming: 0, silent: 0 };
  for (const { conversationId } of newest) {
    if (found.read === mostRead) break;
    const { facts } = await service.record(conversationId, { agentId, pointers });
    if (facts.direction === 'inbound' || (facts.status !== 'done' && facts.status !== 'failed')) continue;
    found.read += 1;
    if (facts.calleeNumber !== null || facts.references.some((text) => ourReference.test(text))) found.naming += 1;
    else if (facts.openingLine === null && mayHideTalk(facts, timing.ringLimitMs)) found.silent += 1;
  }
  return found;
}

/** A carrier result, or next to no duration, rules out a talk. */
function mayHideTalk({ callResult, status, durationMs }: ConversationFacts, ringLimitMs: number): boolean {
  if (callResult !== null) return callResult === 'answered';
  return status !== 'failed' && (durationMs === null || durationMs > ringLimitMs);
}

/** `<ledger>:<campaign>/<row>/<number>`, or what a test call sends. */
const ourReference = /^[^:\s]+:[^\s]+\/\d+\/\d+$/;
