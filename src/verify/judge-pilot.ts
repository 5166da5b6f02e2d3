import { rowNumber, callsOf, type CampaignBook, type JudgedLine } from './campaign-book.ts';
import { textOf } from './judged-rules.ts';

export function followPilot(line: JudgedLine): void {
  const { type } = line.event;
  if (type === 'pilot.drawn') notePilot(line);
  else if (type === 'pilot.ended') endPilot(line);
  else if (type === 'pilot.voided') voidPilot(line);
  else decidePilot(line);
}

/** Rows are drawn that are called before the others. */
function notePilot({ campaign, data, violate }: JudgedLine): void {
  const rows = Array.isArray(data['rows']) ? data['rows'].map(Number) : [];
  const { pilot } = campaign;
  const sample = Number(data['sample']);
  if (sample !== (pilot?.sample ?? 0) + 1) violate('illegal_change', `sample ${sample} was drawn after ${pilot?.sample ?? 'none'}`);
  campaign.pilot = { sample, rows: new Set(rows), state: rows.length === 0 ? 'passed' : 'calling' };
}

/** Everybody of it was called. Only what the campaign says, and gates that hold, lets it go on by itself. */
function endPilot({ campaign, event, data, violate }: JudgedLine): void {
  const { pilot, rules } = campaign;
  if (pilot?.state !== 'calling')
    return violate('illegal_change', `the end of sample ${String(data['sample'])} is told, and nobody calls it`);
  const passed = data['passed'] === true;
  const readings = Array.isArray(data['readings']) ? (data['readings'] as { verdict?: unknown }[]) : [];
  const mayPass = rules.pilot?.next === 'go_on' && readings.every(({ verdict }) => verdict === 'holds');
  const isAnyoneElse = campaign.rows > campaign.rejected + campaign.outcomes.size;
  if (passed && !mayPass && isAnyoneElse)
    violate('cause_missing', `the pilot passed by itself at ${new Date(event.at).toISOString()}, and its gates did not hold`);
  campaign.pilot = { ...pilot, state: passed ? 'passed' : 'over' };
}

/** What the sample showed holds no more. */
function voidPilot({ campaign, violate }: JudgedLine): void {
  const { pilot } = campaign;
  if (pilot === null || pilot.state === 'over')
    return violate('illegal_change', 'a pilot was voided that was not called, and had not passed');
  campaign.pilot = { ...pilot, state: 'over' };
}

function decidePilot({ campaign, data, violate }: JudgedLine): void {
  const { pilot } = campaign;
  if (pilot === null || data['by'] !== 'person')
    return violate('cause_missing', 'a pilot was decided about, and there is none, or nobody did');
  const decision = textOf(data['decision']);
  if (decision === 'go_on' && pilot.state !== 'over') violate('illegal_change', `the pilot was decided about while it was ${pilot.state}`);
  campaign.pilot = { ...pilot, state: 'passed' };
}

/** Before that nobody is called who is not in the sample, and nobody a second time but whom a call back was promised. */
export function judgePilot({ campaign, event, violate }: JudgedLine, recipientId: string): void {
  const { pilot } = campaign;
  if (pilot === null || pilot.state === 'passed') return;
  const row = rowNumber(campaign, recipientId);
  if (pilot.state === 'over') violate('pilot_exceeded', `call ${event.attemptId} was placed, and nobody had decided about the pilot`);
  else if (wasCalled(campaign, recipientId) && isPromised(campaign, recipientId)) return;
  else if (row === null || !pilot.rows.has(row)) violate('pilot_exceeded', `call ${event.attemptId} was placed, and is not in the pilot`);
  else if (wasCalled(campaign, recipientId))
    violate('pilot_exceeded', `call ${event.attemptId} is a second one of the pilot, before anybody had decided about it`);
}

function wasCalled(campaign: CampaignBook, recipientId: string): boolean {
  return callsOf(campaign, recipientId).some(({ state, counted }) => state === 'settled' && counted);
}

function isPromised({ promises }: CampaignBook, recipientId: string): boolean {
  return [...promises.values()].some((promise) => promise.recipientId === recipientId && promise.ended === null);
}
