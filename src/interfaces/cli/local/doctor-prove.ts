import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { storeLookUpProof, type LookUpProof } from '../../../ledger/campaign/lookup-proof.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { accountIdOf, explainServiceFault, readClock, requireApiKey, withService } from '../../../operations/control/service.ts';
import { readPhoneNumber } from '../../../shared/input/phone-number.ts';
import { keyHeaders } from '../../../rules/service-api.ts';
import type { CallService } from '../../../service/port/call-service.ts';
import { RefusedError, ServiceError } from '../../../service/port/errors.ts';
import type { LookUpTrial } from '../../../service/port/lookup-trial.ts';
import type { ServiceClock } from '../../../service/port/service-clock.ts';
import { openTrial } from '../../../service/registry.ts';
import { readConfig, serviceSettings, type Config } from '../../../shared/config.ts';
import { foreseen, UsageError } from '../../../shared/input/errors.ts';
import { printable } from '../../../shared/input/printable.ts';
import { mayBegin, writeAnswer } from '../terminal/answer.ts';
import type { Io } from '../terminal/io.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';

export interface ProveOptions {
  /** A number owned by the operator. */
  to: string;
  /** Names agent and number; null: the first of the account. */
  campaignPath: string | null;
  yes: boolean;
  json: boolean;
}

/** Thrown when the trial shows that requests cannot be looked up, or did not finish. */
class NotProvenError extends foreseen('NotProvenError', false) {}

/** Thrown when it is unknown whether the call was scheduled. */
class LostError extends foreseen('LostError', false) {}

/** Real time that a service may take to list a request, or to show its cancellation. */
const longestWaitMs = 60_000;
const pauseMs = 250;

interface Step {
  name: string;
  detail: string;
}

/**
 * Schedules one call 30 days ahead, looks it up, cancels it, and stores the proof for the account. No call is placed. Throws UsageError
 * before scheduling, and NotProvenError with what is left at the service.
 */
export async function runProve(io: Io, options: ProveOptions): Promise<void> {
  const config = readConfig(io.env);
  const { SVC_API: api, SVC_BASE_URL: url } = config;
  if (api === 'contract') throw new UsageError('The contract has no look-up to prove. Set SVC_API=batch-calling or SVC_API=campaigns.');
  const recipient = readPhoneNumber(options.to, null);
  if (!recipient.ok) throw new UsageError(`--to cannot be used: ${recipient.hint}. Write it as +12125550123.`);
  const apiKey = requireApiKey(config);
  const clock = await readClock(config);
  const from = await withService(config, (service) => chooseCaller(service, options.campaignPath));
  const question = `Schedule one call to the number of --to at ${url} for 30 days ahead, from ${from.callerId} by ${from.agentId}, and take it back?`;
  if (!(await mayBegin(io, options.yes, question))) return;
  const call = { ...from, mark: randomUUID(), to: recipient.e164, now: Math.round(clock.now()) };
  const steps: Step[] = [];
  const note = (name: string, detail: string) => {
    steps.push({ name, detail });
    if (!options.json) io.stdout.write(`${name.padEnd(12)}  ${printable(detail)}\n`);
  };
  const opened = openTrial({ ...serviceSettings(config), api, apiKey, retriesAfter429: { reads: 0 } }, call);
  const left = new Set<string>();
  try {
    const asIs = (error: unknown) => error;
    const seen = await untilInterrupted(io, ({ signal }) =>
      withService(config, (service) => proveCleanly({ trial: opened.trial, service, clock, call, note, left, signal }), asIs),
    );
    const proof: LookUpProof = { api, provenAt: Math.round(clock.now()), ...seen };
    const store = await openLedger(config);
    try {
      await storeLookUpProof(store, accountIdOf(config), proof);
    } finally {
      await store.close();
    }
    const words = `Proven: a request whose answer is lost is looked up at ${url}. The database keeps the proof for its campaigns.\n`;
    writeAnswer(io, options.json, { data: { proven: true, accountId: accountIdOf(config), proof, steps }, words });
  } catch (error) {
    const reason = reasonFor(config, error);
    const commands = [...left].map((id) => takeBackCommand(config, opened.trial.takeBackPath(id)));
    const rest =
      left.size === 0
        ? error instanceof LostError
          ? 'It may be there all the same, for 30 days ahead: look for its name at the service, and cancel it.'
          : 'Nothing of it is left at the service.'
        : `Left at the service, for 30 days ahead: ${[...left].join(', ')}. Take it back:\n  ${commands.join('\n  ')}`;
    const message = `The look-up is not proven: ${reason}\n${rest}`;
    if (!options.json) throw new NotProvenError(message, { cause: error });
    writeAnswer(io, true, { data: { proven: false, reason, steps, left: [...left] }, words: '' });
    io.stderr.write(`${message}\n`);
    io.exitCode = 1;
  } finally {
    await opened.close();
  }
}

function reasonFor(config: Config, error: unknown): string {
  if (error instanceof RefusedError && error.status === 403)
    return 'The service does not permit calls (403): check what the key may do, and accept the terms of calls in batches.';
  const explained = explainServiceFault(config, error);
  return explained instanceof Error ? explained.message : String(explained);
}

function takeBackCommand({ SVC_BASE_URL: url, SVC_API: api }: Config, path: string): string {
  return `curl -X POST -H "${keyHeaders[api]}: $SVC_API_KEY" ${url.replace(/\/+$/, '')}${path}`;
}

async function chooseCaller(service: CallService, campaignPath: string | null): Promise<{ agentId: string; callerId: string }> {
  if (campaignPath !== null) {
    const { settings } = await readCampaignFile(campaignPath);
    return { agentId: settings.agent_id, callerId: settings.from_phone_number_id[0] ?? '' };
  }
  const [caller] = await service.callers();
  for await (const { id } of service.agents()) if (caller !== undefined) return { agentId: id, callerId: caller.id };
  throw new UsageError('The account has no agent or no number to call from. Name a campaign file with both.');
}

interface Proving {
  trial: LookUpTrial;
  service: CallService;
  clock: ServiceClock;
  call: { mark: string; agentId: string; callerId: string; now: number };
  note: (name: string, detail: string) => void;
  /** Ids still scheduled at the service. */
  left: Set<string>;
  signal: AbortSignal;
}

type LookUpFindings = Pick<LookUpProof, 'listLagMs' | 'order' | 'keyBehaviour'>;

/** Cancels scheduled calls after a failure too, unless the user interrupts. */
async function proveCleanly(proving: Proving): Promise<LookUpFindings> {
  try {
    return await prove(proving);
  } catch (error) {
    if (!proving.signal.aborted) for (const id of proving.left) await takeBack(proving, id).catch(() => undefined);
    throw error;
  }
}

async function prove(proving: Proving): Promise<LookUpFindings> {
  const { trial, service, clock, call, note, left, signal } = proving;
  const id = await schedule(proving);
  const goOn = () => {
    if (signal.aborted) throw new NotProvenError('it was interrupted.');
  };
  goOn();
  const takenAt = clock.now();
  const isListed = await untilTrue(async () => (await trial.listed()) !== null, signal);
  goOn();
  if (!isListed) throw new NotProvenError('the service does not list what it has taken within a minute.');
  const listLagMs = Math.max(0, Math.round(clock.now() - takenAt));
  note('list', `shows it within ${(listLagMs / 1_000).toFixed(1)} s of the answer`);
  const order = await trial.order();
  note(
    'order',
    { newest_first: 'newest first', other: 'not newest first: lists are read to their end', unclear: 'too few entries to show one' }[order],
  );
  goOn();
  const repeated = await trial.repeat(id);
  if (repeated !== null) {
    for (const made of repeated.made) left.add(made);
    const seen = {
      first_answer: 'a second request meets the first',
      conflict: 'another request is refused',
      none: 'a second request is carried out',
    };
    note('key', seen[repeated.key]);
  }
  goOn();
  // A request that was never sent must be absent; with a key, for certain.
  const never = await service.find?.({ ...call, mark: randomUUID(), since: call.now });
  note(
    'absent',
    never?.kind === 'absent'
      ? `a request that never was is absent${never.certain ? ' for certain' : ''}`
      : 'a request that never was is not told as absent',
  );
  for (const each of left) await takeBack(proving, each);
  if (repeated?.key === 'none') throw new NotProvenError('requests are carried out again under the same key.');
  if (never?.kind !== 'absent' || never.certain !== (repeated !== null))
    throw new NotProvenError('a request that never was is not told as absent.');
  return { listLagMs, order, keyBehaviour: repeated?.key ?? null };
}

/** If the answer is lost, looks the call up, so that none is left unnoticed. */
async function schedule({ trial, service, call, note, left }: Proving): Promise<string> {
  try {
    const { id, isAhead } = await trial.schedule();
    left.add(id);
    note('scheduled', `${id}, for 30 days ahead`);
    if (isAhead) return id;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.knowledge !== 'unknown') throw error;
    const listed = await trial.listed();
    if (listed !== null) left.add(listed);
    const found = listed === null ? await service.find?.({ ...call, since: call.now }) : undefined;
    if (listed !== null || (found?.kind === 'absent' && found.certain)) throw error;
    throw new LostError(`the answer was lost, and no call is listed whose name ends with ${call.mark}.`, { cause: error });
  }
  throw new NotProvenError('the service has not kept the time of the call, which may ring now.');
}

async function takeBack({ trial, note, left, signal }: Proving, id: string): Promise<void> {
  let rest: string | null = null;
  const isGone = await untilTrue(async () => (rest = await trial.takeBack(id)) === null, signal);
  if (!isGone) throw new NotProvenError(`${id} could not be taken back: ${rest ?? 'it was interrupted'}.`);
  left.delete(id);
  note('taken back', `${id}: nobody is called by it`);
}

/** Polls until true; false after a minute, or on abort. */
async function untilTrue(ask: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  for (const until = performance.now() + longestWaitMs; performance.now() < until && !signal.aborted;) {
    if (await ask()) return true;
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
