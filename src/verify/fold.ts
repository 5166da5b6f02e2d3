import { AuditState, Campaign, rowOf, type CallFacts, type EventType, type LoggedEvent, type PendingOutcome } from './book.ts';
import { effects } from './effects.ts';
import { numberOf, readAuditedAccountRules } from './judged-rules.ts';
import { logRules, type LogRule, type LogViolation } from './log-rules.ts';
import { Line } from './line.ts';
import { sentencesOf, type Finding, type Rule } from './rules/rule.ts';

const accountScope = 'account';

type Check = (line: Line) => Finding;
const rules = Object.entries(logRules) as [LogRule, Rule][];

function checksOf(kind: 'on' | 'alone'): ReadonlyMap<EventType, readonly [LogRule, Check][]> {
  const checks = new Map<EventType, [LogRule, Check][]>();
  for (const [name, rule] of rules)
    for (const [type, check] of Object.entries(rule[kind] ?? {}) as [EventType, Check][])
      checks.set(type, [...(checks.get(type) ?? []), [name, check]]);
  return checks;
}

const [checks, checksAlone] = [checksOf('on'), checksOf('alone')];
const checksOfOutcomes = rules.flatMap(([name, { onOutcome }]) => (onOutcome === undefined ? [] : [[name, onOutcome] as const]));

/** Line types without a campaign; each campaign that a schedule starts has its own import. */
const foreign: ReadonlySet<EventType> = new Set(['schedule.fired', 'schedule.failed', 'webhook.changed']);

/** Folds the log into state, line by line. Shares no rule with the code that dials. */
export class LogAudit extends AuditState {
  /** Violations that later facts may explain, and how far each breaks its rule. */
  readonly explicable: { violation: LogViolation; campaign: Campaign; excess: number }[] = [];
  readonly #violations: LogViolation[] = [];
  #lastSeq = 0;
  #events = 0;
  #calls = 0;

  /** `facts`: the tables' facts of the call that the event begins. */
  take(event: LoggedEvent, facts?: CallFacts): void {
    const { seq, type, campaignId, data = {} } = event;
    this.#events += 1;
    if (seq <= this.#lastSeq) this.#violate(event, 'log_incomplete', `event ${seq} stands after ${this.#lastSeq}`);
    this.#lastSeq = seq;
    if (type === 'suppression.added') return this.#suppress(data);
    if (type === 'suppression.removed') return this.numbers.allow(String(data['e164']), String(data['scope']));
    if (type === 'house.changed') {
      this.numbers.house = readAuditedAccountRules(data['rules']);
      this.numbers.houseVersion = Number(data['version']);
      return;
    }
    if (type === 'campaign.imported') return this.#open(event, data);
    const campaign = this.campaigns.get(campaignId);
    // Operator actions may concern no campaign, or have the id of a schedule's file.
    if (foreign.has(type) || (type === 'operator.acted' && (campaign === undefined || campaignId === accountScope))) return;
    if (campaign === undefined) this.#violate(event, 'log_incomplete', `${type} of a campaign that was never imported`);
    else this.#follow(new Line(this, campaign, event, facts));
  }

  /** Violations in log order, and totals. `take` must not be called afterwards. */
  finish(): { violations: LogViolation[]; events: number; calls: number; campaigns: string[] } {
    for (const [campaignId, campaign] of this.campaigns) {
      for (const pending of campaign.pending.values()) this.#judgeOutcome(campaign, pending, false);
      for (const [rule, { atEnd }] of rules)
        for (const what of sentencesOf(atEnd?.(campaign))) this.#violations.push({ rule, campaignId, seq: null, at: null, what });
    }
    for (const event of [...this.unlisted.values()].flat()) {
      const what = `a person opted out in call ${event.attemptId}, and the number was not put on the do-not-call list`;
      this.#violate(event, 'opt_out_unlisted', what);
    }
    const excused = this.#excusedTimes();
    const last = Number.MAX_SAFE_INTEGER;
    const violations = this.#violations.filter((one) => !excused.has(one)).toSorted((a, b) => (a.seq ?? last) - (b.seq ?? last));
    return { violations, events: this.#events, calls: this.#calls, campaigns: [...this.campaigns.keys()] };
  }

  #suppress(data: Line['data']): void {
    const [number, scope, expiresAt] = [String(data['e164']), String(data['scope']), numberOf(data['expiresAt'])];
    this.numbers.suppress(number, scope, expiresAt);
    if (scope === accountScope && expiresAt === null) this.unlisted.delete(number);
  }

  #open(event: LoggedEvent, data: Line['data']): void {
    const { campaignId } = event;
    const loggedRules = data['rules'];
    if (typeof loggedRules !== 'object' || loggedRules === null)
      return void this.#violate(event, 'log_incomplete', 'the import does not tell the rules of its campaign');
    if (this.campaigns.has(campaignId)) return void this.#violate(event, 'illegal_change', 'the campaign was imported a second time');
    this.campaigns.set(campaignId, new Campaign(event, loggedRules));
  }

  #follow(line: Line): void {
    const { campaign } = line;
    const { type, recipientId, attemptId } = line.event;
    this.#report(line, 'time_reversed', logRules.time_reversed.onEach?.(line));
    noteTime(line);
    this.#calls += line.placed;
    const rowId = recipientId ?? (attemptId === undefined ? undefined : rowOf(attemptId));
    // `operator.acted` also records views and changes no row.
    const pending = rowId === undefined || type === 'operator.acted' ? null : takePending(line, rowId);
    if (pending?.brought === false) this.#judgeOutcome(campaign, pending.outcome, false);
    this.#step(line);
    if (pending?.brought === true) this.#judgeOutcome(campaign, pending.outcome, true);
  }

  #step(line: Line): void {
    const { campaign, event, recipientId } = line;
    for (const [name, check] of checksAlone.get(event.type) ?? []) if (this.#report(line, name, check(line))) return;
    for (const [name, check] of checks.get(event.type) ?? []) this.#report(line, name, check(line));
    const outcome = event.type === 'recipient.outcome' ? outcomeOf(line) : null;
    (effects as Partial<Record<EventType, (line: Line) => void>>)[event.type]?.(line);
    if (outcome === null) return;
    // Without calls, no later line can cause the outcome.
    if (campaign.calls.has(recipientId)) campaign.pending.set(recipientId, outcome);
    else this.#judgeOutcome(campaign, outcome, false);
  }

  #judgeOutcome(campaign: Campaign, outcome: PendingOutcome, brought: boolean): void {
    const line = new Line(this, campaign, outcome.event, undefined);
    for (const [name, check] of checksOfOutcomes) this.#report(line, name, check(line, outcome, brought));
  }

  /** False: nothing breaks the rule. */
  #report(line: Line, rule: LogRule, finding: Finding): boolean {
    const sentences = sentencesOf(finding);
    for (const what of sentences) {
      const violation = this.#violate(line.event, rule, what);
      const excess = logRules[rule].excess?.(line);
      if (excess !== undefined) this.explicable.push({ violation, campaign: line.campaign, excess });
    }
    return sentences.length > 0;
  }

  #violate({ campaignId, seq, at }: LoggedEvent, rule: LogRule, what: string): LogViolation {
    const violation = { rule, campaignId, seq, at, what };
    this.#violations.push(violation);
    return violation;
  }

  /**
   * Falls in time that the tolerance allows at the campaign's speed, which may be logged later: it is real time, and a killed sandbox loses
   * seconds of it.
   */
  #excusedTimes(): ReadonlySet<LogViolation> {
    const excused = this.explicable.filter(
      ({ violation, campaign: { rules, speed }, excess }) =>
        violation.rule === 'time_reversed' && excess <= rules.timing.clockToleranceMs * speed,
    );
    for (const { excess } of excused) noteFall(this, excess);
    return new Set(excused.map(({ violation }) => violation));
  }
}

function noteTime(line: Line): void {
  const { book, campaign, event, data, fall } = line;
  if (event.type === 'campaign.state' && data['to'] === 'failed') return;
  const isReversed = fall > campaign.rules.timing.clockToleranceMs;
  if (fall > 0 && !isReversed) noteFall(book, fall);
  campaign.lastAt = isReversed || event.type.startsWith('clock.') ? event.at : Math.max(campaign.lastAt, event.at);
}

function noteFall({ falls }: AuditState, byMs: number): void {
  falls.count += 1;
  falls.mostMs = Math.max(falls.mostMs, byMs);
}

/** Lines right behind the outcome that they cause, in the same transaction. */
const bringsOutcome: readonly EventType[] = ['attempt.settled', 'attempt.corrected', 'attempt.released'];
/** Lines that may change an outcome. In logs of the first schema nothing else shows that one was taken back. */
const mayFollow: readonly EventType[] = ['attempt.planned', 'attempt.settled', 'attempt.corrected', 'attempt.result'];

/** Keeps an outcome until the next line of its row, which shows its cause. */
function outcomeOf({ campaign, event, outcome, recipientId }: Line): PendingOutcome {
  const explained = campaign.moved.delete(recipientId);
  return { event, before: outcome ?? null, explained, state: campaign.state, rules: campaign.rules };
}

/** The outcome waiting for this line of its row, and whether this line caused it. */
function takePending({ campaign, event, data }: Line, rowId: string): { outcome: PendingOutcome; brought: boolean } | null {
  const outcome = campaign.pending.get(rowId);
  const brought = outcome?.event.at === event.at && bringsOutcome.includes(event.type);
  const isFinalResult = event.type === 'attempt.result' && data['asks'] === undefined;
  if (!brought && campaign.outcomes.has(rowId) && mayFollow.includes(event.type) && !isFinalResult) campaign.moved.add(rowId);
  if (outcome === undefined) return null;
  campaign.pending.delete(rowId);
  return { outcome, brought };
}
