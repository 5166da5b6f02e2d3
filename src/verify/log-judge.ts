import { findAttempt, openBook, rowOf, type BatchBook, type CampaignBook, type JudgedLine } from './campaign-book.ts';
import { beginPost, moveBatch, takeVerdict, planAttempt, planBatch } from './judge-batch.ts';
import { noteHouse } from './judge-call.ts';
import { dial, noteScreening, release, settle } from './judge-dial.ts';
import { followPilot } from './judge-pilot.ts';
import { noteGoalReached } from './judge-goal.ts';
import { endPromise, judgeLost, notePromise, noteResult, noteUnclear } from './judge-asked.ts';
import { judgeEdit, judgeRetry } from './judge-edit.ts';
import { moveCampaign, judgeDebts, judgeEnd, TimeBook } from './judge-campaign.ts';
import { adjustLimits, linesBeyond } from './judge-limits.ts';
import { judgeOutcome, noteOutcome, takePending } from './judge-outcome.ts';
import { numberOf, readJudgedRules, textOf } from './judged-rules.ts';
import type { LogRule, LogViolation, Violate } from './log-rules.ts';
import type { CallFacts, LoggedEvent } from './log-types.ts';
import { NumberBook } from './number-book.ts';

type Data = Record<string, unknown>;

const accountScope = 'account';

/** Judges every event in the order of the log. It trusts no state but the one it builds, and shares no rule with those who dial. */
export class LogJudge {
  readonly campaigns = new Map<string, CampaignBook>();
  readonly numbers = new NumberBook();
  readonly times = new TimeBook();
  /** Batches by the names that the service gave them. */
  readonly serviceBatches = new Map<string, string>();
  /** Calls beyond the lines of their campaign, and by how many: records that belong to nobody may explain them. */
  readonly beyondLines: { violation: LogViolation; agentId: string; excess: number }[] = [];
  /** Key of the hashes of rows, and id of the database, which each reference names; null: it has none. */
  readonly rowKey: string | null;
  readonly ledgerId: string | null;
  readonly #violations: LogViolation[] = [];
  /** Of each number whose person opted out in a call: the lines that tell so, until the number stands on the do-not-call list. */
  readonly #unlisted = new Map<string, LoggedEvent[]>();
  #lastSeq = 0;
  #events = 0;
  #calls = 0;

  constructor(rowKey: string | null = null, ledgerId: string | null = null) {
    this.rowKey = rowKey;
    this.ledgerId = ledgerId;
  }

  /** `facts`: what the tables know of the call that the event begins. */
  take(event: LoggedEvent, facts?: CallFacts): void {
    this.#events += 1;
    if (event.seq <= this.#lastSeq) this.#violate(event, 'log_incomplete', `event ${event.seq} stands after ${this.#lastSeq}`);
    this.#lastSeq = event.seq;
    const data = event.data ?? {};
    if (event.type === 'suppression.added') {
      const [number, scope, expiresAt] = [String(data['e164']), String(data['scope']), numberOf(data['expiresAt'])];
      this.numbers.suppress(number, scope, expiresAt);
      if (scope === accountScope && expiresAt === null) this.#unlisted.delete(number);
      return;
    }
    if (event.type === 'suppression.removed') return this.numbers.allow(String(data['e164']), String(data['scope']));
    if (event.type === 'house.changed') return noteHouse(this.numbers, data);
    // A schedule is no campaign: each of its firings that came about is one, with an import of its own.
    if (event.type === 'schedule.fired' || event.type === 'schedule.failed') return;
    // Neither does a webhook belong to a campaign, nor what somebody changes for all of them.
    if (event.type === 'webhook.changed' || (event.type === 'operator.acted' && event.campaignId === accountScope)) return;
    if (event.type === 'campaign.imported') {
      this.#open(event, data);
      return;
    }
    const campaign = this.campaigns.get(event.campaignId);
    // Whoever has changed a schedule is named under its campaign file's id, which no run has.
    if (campaign === undefined && event.type === 'operator.acted') return;
    if (campaign === undefined) this.#violate(event, 'log_incomplete', `${event.type} of a campaign that was never imported`);
    else this.#follow(this.#lineOf(campaign, event), facts);
  }

  #lineOf(campaign: CampaignBook, event: LoggedEvent): JudgedLine {
    const violate: Violate = (rule, what) => void this.#violate(event, rule, what);
    return { campaign, numbers: this.numbers, event, data: event.data ?? {}, violate };
  }

  /** What is wrong so far, in the order of the log, and how much there was to judge. Nothing is to be taken afterwards. */
  finish(): { violations: LogViolation[]; events: number; calls: number; campaigns: string[] } {
    for (const [campaignId, campaign] of this.campaigns) {
      for (const pending of campaign.pending.values()) judgeOutcome(pending, false);
      campaign.pending.clear();
      const lacks: Violate = (rule, what) => this.#violations.push({ rule, campaignId, seq: null, at: null, what });
      judgeDebts(campaign, lacks);
      judgeEnd(campaign, lacks);
      judgeLost({ campaign, violate: lacks });
    }
    for (const event of [...this.#unlisted.values()].flat()) {
      const what = `a person opted out in call ${event.attemptId}, and the number was not put on the do-not-call list`;
      this.#violate(event, 'opt_out_unlisted', what);
    }
    const last = Number.MAX_SAFE_INTEGER;
    const excused = this.times.excused();
    const judged = this.#violations.filter((violation) => !excused.has(violation));
    const violations = judged.toSorted((a, b) => (a.seq ?? last) - (b.seq ?? last));
    return { violations, events: this.#events, calls: this.#calls, campaigns: [...this.campaigns.keys()] };
  }

  #open(event: LoggedEvent, data: Data): void {
    const rules = data['rules'];
    if (typeof rules !== 'object' || rules === null) {
      this.#violate(event, 'log_incomplete', 'the import does not tell the rules of its campaign');
      return;
    }
    if (this.campaigns.has(event.campaignId)) {
      this.#violate(event, 'illegal_change', 'the campaign was imported a second time');
      return;
    }
    const count = (name: string, missing: number) => Number(data[name] ?? missing);
    const looksUp = (textOf(data['api']) ?? 'contract') !== 'contract';
    const told = { rules: readJudgedRules(rules), toldRules: rules, looksUp, fileHash: textOf(data['hash']) };
    const rows = { rows: count('rows', NaN), firstRow: count('firstRow', 1), rejected: count('rejected', NaN) };
    this.campaigns.set(event.campaignId, openBook(event, { ...told, ...rows }));
  }

  #follow(line: JudgedLine, facts: CallFacts | undefined): void {
    this.times.note(line, (what) => this.#violate(line.event, 'time_reversed', what));
    const { recipientId, attemptId } = line.event;
    const rowId = recipientId ?? (attemptId === undefined ? undefined : rowOf(attemptId));
    // Whoever looks at a row changes nothing of it.
    const told = rowId === undefined || line.event.type === 'operator.acted' ? null : takePending(line, rowId);
    if (told?.brought === false) judgeOutcome(told.pending, false);
    this.#step(line, facts);
    if (told?.brought === true) judgeOutcome(told.pending, true);
  }

  #step(line: JudgedLine, facts: CallFacts | undefined): void {
    const { campaign, event, data, violate } = line;
    switch (event.type) {
      case 'campaign.rows':
        campaign.rowBook.take(Number(data['from']), String(data['hashes']), Number(data['version'] ?? 1));
        if (typeof data['cells'] === 'string') campaign.cellBook.take(Number(data['from']), data['cells']);
        break;
      case 'campaign.state':
        moveCampaign(line, String(data['to']), textOf(data['from']));
        break;
      case 'campaign.adjusted':
        adjustLimits(campaign, (data['to'] ?? {}) as Data);
        break;
      case 'round.started':
        campaign.rounds += 1;
        break;
      case 'round.ended':
        if (campaign.owesRoundEnd === null && campaign.rounds > 0)
          violate('cause_missing', `the round ended while the campaign was ${campaign.state}`);
        campaign.owesRoundEnd = null;
        break;
      case 'batch.planned':
        planBatch(line);
        break;
      case 'batch.screened':
        noteScreening(line);
        break;
      case 'batch.posting':
        withBatch(line, (batch) => beginPost(line, batch));
        break;
      case 'batch.withdrawing':
        withBatch(line, (batch) => (batch.askedBack = true));
        break;
      case 'post.verdict':
        withBatch(line, (batch) => (this.#calls -= takeVerdict(line, batch)));
        break;
      case 'batch.state':
        withBatch(line, (batch) => {
          this.#calls += moveBatch(line, batch);
          if (batch.serviceId !== null) this.serviceBatches.set(batch.serviceId, batch.batchId);
        });
        break;
      case 'attempt.planned':
        this.#plan(line);
        break;
      case 'attempt.posted':
        this.#dial(line, facts);
        break;
      case 'attempt.matched':
        match(line);
        break;
      case 'attempt.settled':
      case 'attempt.corrected': {
        const attempt = findAttempt(campaign, event.attemptId);
        if (attempt?.state === 'released') this.#calls += 1;
        settle(line, attempt);
        const number = attempt?.call?.number;
        if (data['disposition'] === 'opted_out' && number !== undefined)
          this.#unlisted.set(number, [...(this.#unlisted.get(number) ?? []), event]);
        break;
      }
      case 'attempt.result':
        noteResult(line);
        break;
      case 'pilot.drawn':
      case 'pilot.ended':
      case 'pilot.voided':
      case 'pilot.decided':
        followPilot(line);
        break;
      case 'goal.reached':
        noteGoalReached(line);
        break;
      case 'callback.promised':
      case 'callback.moved':
        notePromise(line);
        break;
      case 'callback.unclear':
        noteUnclear(line);
        break;
      case 'callback.ended':
        endPromise(line);
        break;
      case 'attempt.released':
        release(line, findAttempt(campaign, event.attemptId));
        break;
      case 'caller.out':
        campaign.callersOut.add(String(data['phoneNumberId']));
        break;
      case 'caller.in':
        campaign.callersOut.delete(String(data['phoneNumberId']));
        break;
      case 'recipient.outcome':
        noteOutcome(line);
        break;
      case 'recipient.decided':
        if (data['decision'] === 'theirs') campaign.given.add(`${event.attemptId} ${String(data['conversation'])}`);
        break;
      case 'recipient.retried':
        judgeRetry(line);
        break;
      case 'recipient.added':
      case 'recipient.corrected':
      case 'recipient.withdrawn':
      case 'campaign.edited':
        judgeEdit(line);
        break;
      // They tell of nothing that is judged, or were taken before.
      case 'account.adjusted':
      case 'account.pace':
      case 'gate.read':
      case 'house.changed':
      case 'clock.stepped':
      case 'hook.delivered':
      case 'hook.failed':
      case 'operator.acted':
      case 'recipient.deferred':
      case 'campaign.imported':
      case 'schedule.fired':
      case 'schedule.failed':
      case 'suppression.added':
      case 'suppression.removed':
      case 'webhook.changed':
        break;
    }
  }

  #plan(line: JudgedLine): void {
    const { campaign, event } = line;
    planAttempt(line);
    const batch = campaign.batches.get(event.batchId ?? '');
    const excess = batch === undefined ? 0 : linesBeyond(batch);
    if (excess <= 0) return;
    const what = `call ${event.attemptId} was planned for a line beyond the ${batch?.limits.maxConcurrentCalls} that there are`;
    const violation = this.#violate(event, 'lines_exceeded', what);
    this.beyondLines.push({ violation, agentId: campaign.rules.agentId, excess });
  }

  #dial(line: JudgedLine, facts: CallFacts | undefined): void {
    this.#calls += 1;
    const { attemptId } = line.event;
    const attempt = findAttempt(line.campaign, attemptId);
    if (attempt === undefined) line.violate('log_incomplete', `call ${attemptId} was placed and never planned`);
    else dial(line, attempt, { rowKey: this.rowKey, facts });
  }

  #violate({ campaignId, seq, at }: LoggedEvent, rule: LogRule, what: string): LogViolation {
    const violation = { rule, campaignId, seq, at, what };
    this.#violations.push(violation);
    return violation;
  }
}

function withBatch({ campaign, event, violate }: JudgedLine, judge: (batch: BatchBook) => void): void {
  const batch = campaign.batches.get(event.batchId ?? '');
  if (batch === undefined) violate('log_incomplete', `${event.type} of a batch that was never planned`);
  else judge(batch);
}

function match({ campaign, event, data, violate }: JudgedLine): void {
  const attempt = findAttempt(campaign, event.attemptId);
  if (attempt?.postedAt == null) return violate('log_incomplete', `call ${event.attemptId} has a record and was never placed`);
  attempt.conversation = textOf(data['conversation']);
  attempt.evidence = textOf(data['evidence']);
  if (attempt.evidence === 'person' && !campaign.given.has(`${attempt.attemptId} ${attempt.conversation}`))
    violate('cause_missing', `call ${attempt.attemptId} was given its record by a person, and nobody has said so`);
  const batch = campaign.batches.get(attempt.batchId);
  if (batch !== undefined) batch.lacksMatch = null;
}
