import { createHash } from 'node:crypto';
import { Html, html, type HtmlValue } from '../html/html.ts';
import { localMinute } from '../../shared/input/times.ts';
import { plural } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import { isPlaced, type Evidence, type EvidenceCall, type EvidenceCampaign, type EvidenceRow } from '../../ledger/read/evidence.ts';
import { eventText, dispositionText } from '../words/history.ts';
import { reasonText } from '../words/causes.ts';
import { accountRuleLines } from '../words/house.ts';

/** Results of `verify` for the number's calls. */
export interface Findings {
  events: number;
  promises: number;
  violations: { rule: string; promise: string; what: string }[];
  notes: readonly string[];
}

const styles = `body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-top:1px solid #999;padding-top:1rem}h3{font-size:1rem;margin-bottom:.3rem}
dl{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:.2rem 1rem;margin:.5rem 0 1.5rem}dt{color:#444}dd{margin:0;overflow-wrap:anywhere}
ol.log{padding-left:1.2rem}.none{color:#555;font-style:italic}@media print{body{margin:0}h3{break-after:avoid}}`;
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(styles).digest('base64')}'; base-uri 'none'; form-action 'none'`;

const notRecorded = html`<span class="none">not recorded</span>`;

/** One page for a non-technical reader: each call, its basis, its result, and what is unknown. */
export function renderSummary(
  evidence: Evidence,
  { findings, by, conversations }: { findings: Findings; by: string; conversations: number },
): string {
  const { e164, madeAt, sinceAt, rows, campaigns, ids, otherNumbers, suppressions, events } = evidence;
  const calls = rows.flatMap((row) => row.calls.map((call) => ({ row, call })));
  const placed = calls.filter(({ call }) => isPlaced(call));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Calls to ${e164}</title>
        <style></style>
      </head>
      <body>
        <h1>Calls to ${e164}</h1>
        ${facts([
          ['Made', utc(madeAt)],
          ['Asked for by', printable(by)],
          ['Calls from', sinceAt === null ? 'the beginning of the records' : utc(sinceAt)],
          ['Calls requested', `${placed.length}`],
          ['Known as', ids.length === 0 ? null : ids.map(printable).join(', ')],
          ['Do-not-call list', listed(suppressions)],
          ['House rules', accountRulesText(events)],
          ['Judged', auditText(findings)],
        ])}
        ${ids.length > 1 ? html`<p>Lists have this number under ${ids.length} ids: it may have passed from one person to another.</p>` : null}
        ${otherNumbers > 0 ? html`<p>Lists have ${plural(otherNumbers, 'other number')} under the same id. This bundle tells nothing of them.</p>` : null}
        <p>
          This page says what was claimed and what was done. It does not say whether a call was lawful. Times of the day are those of every
          zone in which the number may be; the instants are UTC, by the clock of the calling service.
        </p>
        ${campaigns.map((campaign) =>
          campaignSection(
            campaign,
            rows.filter(({ campaignId }) => campaignId === campaign.campaignId),
          ),
        )}
        <h2>What the log tells</h2>
        ${
          events.length === 0
            ? html`<p class="none">nothing</p>`
            : html`<ol class="log">
                ${events.map((event) => html`<li value="${event.seq}">${utc(event.at)}, ${event.campaignId}: ${eventText(event)}</li>`)}
              </ol>`
        }
        <h2>How to check this bundle</h2>
        <p>
          <code>node check.mjs bundle.zip</code> compares every byte with what was signed. The key in <code>manifest.json</code> must be the
          one that the caller has made known.
          ${conversations === 0 ? 'Conversations are not part of it.' : `It has ${plural(conversations, 'file')} of conversations.`} Each
          row and each line of the log is told in full in the other files.
        </p>
      </body>
    </html>`;
  return page.text.replace(/<style>[^]*?<\/style>/, () => `<style>${styles}</style>`);
}

/** Account rules over time; null: the log has none. */
function accountRulesText(events: Evidence['events']): string | null {
  const versions = events.flatMap(({ type, at, data }) => (type === 'house.changed' ? [{ at, ...data }] : []));
  const descriptions = versions.map(({ at, version, rules }) => {
    const lines = accountRuleLines(rules);
    return `version ${version} from ${utc(at)}: ${lines.length === 0 ? 'none' : lines.join('; ')}`;
  });
  return descriptions.length === 0 ? null : descriptions.join(' · ');
}

function campaignSection(campaign: EvidenceCampaign, rows: readonly EvidenceRow[]): Html {
  const { campaignId, name, rules, fileHash, importedAt } = campaign;
  return html`<h2>Campaign ${campaignId}${name === null ? '' : html`: ${printable(name)}`}</h2>
    ${facts([
      ['Imported', utc(importedAt)],
      ['File and list, SHA-256', fileHash],
      ['Purpose', rules.purpose ?? null],
      ['What the calls rest on', rules.basis === undefined ? null : `${reasonText(rules.basis)}, as the campaign file states`],
      ['Caps', rules.caps.length === 0 ? 'none of the campaign' : JSON.stringify(rules.caps)],
    ])}
    ${rows.map((row) => rowSection(row, campaign))}`;
}

function rowSection(row: EvidenceRow, campaign: EvidenceCampaign): Html {
  const { consent, cells, law } = row;
  return html`<h3>Row ${row.row}</h3>
    ${facts([
      [
        'Cells of the list',
        cells === null
          ? 'not shown: the row leads to another number now'
          : cells.map(({ column, value }) => `${column}: ${value}`).join(' · '),
      ],
      [
        'Where',
        row.zones.length === 0
          ? null
          : `${[row.country ?? 'country unknown', ...(row.regions ?? [])].join(', ')} (${row.zones.join(', ')})`,
      ],
      [
        'Law that held',
        law.length === 0
          ? 'none of the rules in use'
          : law.map(({ id, source, asOf }) => `${id} (${source}; as of ${asOf ?? 'a day that is not recorded'})`).join(' · '),
      ],
      ['Consent', consent === null ? 'not asked for by this campaign' : consentText(consent)],
      [
        'Outcome',
        row.outcome === null ? 'none yet' : `${reasonText(row.outcome)}${row.reason === null ? '' : ` (${reasonText(row.reason)})`}`,
      ],
    ])}
    ${row.calls.length === 0 ? html`<p class="none">No call of this row went to the number.</p>` : row.calls.map((call) => callSection(call, row, campaign))}`;
}

function consentText(consent: NonNullable<EvidenceRow['consent']>): string {
  const details = (['at', 'source', 'text', 'proof', 'purpose'] as const)
    .map((name) => `${name}: ${consent[name] ?? 'not recorded'}`)
    .join(' · ');
  const until = consent.endsAt === null ? 'without an end' : `until ${utc(consent.endsAt)}`;
  return consent.beginsAt === null ? details : `${details}. It held from ${utc(consent.beginsAt)}, ${until}`;
}

function callSection(call: EvidenceCall, row: EvidenceRow, { rules }: EvidenceCampaign): Html {
  const requested = call.requests.at(-1)?.at ?? null;
  const { record, caller } = call;
  const local =
    requested === null ? null : row.zones.map((zone) => `${localMinute(new Date(requested).toISOString(), zone)} in ${zone}`).join(', ');
  return html`<h3>Row ${row.row}, call ${call.call}</h3>
    ${facts([
      [
        'Requested',
        requested === null
          ? 'never: nobody was called'
          : call.requests.map(({ at, verdict }) => `${utc(at)} (${verdict ?? 'no answer yet'})`).join(', '),
      ],
      ['Time of the day there', local === '' ? null : local],
      ['Calling number', caller.e164 === null ? `${caller.id}, its digits are not recorded` : `${caller.e164} (${caller.id})`],
      [
        'Calling number checked',
        caller.checkedAt === null
          ? 'not known'
          : `${utc(caller.checkedAt)}, the last check before the request: ${
              caller.check === 'ready' ? 'the service had it among the numbers of the account' : reasonText(caller.check ?? 'unknown')
            }`,
      ],
      ['Opening line', call.openingLine ?? 'the own one of the agent, not recorded'],
      ['Agent', call.agentId],
      [
        'Asked before the call',
        rules.preDial === null
          ? 'no hook is set'
          : call.screened === null
            ? null
            : `${call.screened}, ${call.screenedAt === null ? '' : utc(call.screenedAt)}`,
      ],
      ['Rang', record?.startedAt == null ? null : utc(record.startedAt)],
      ['On the line', record?.durationMs == null ? null : `${record.durationMs / 1000} s`],
      [
        'Ended',
        call.state === 'released'
          ? 'given back: nobody was called'
          : call.disposition === null
            ? null
            : `${dispositionText(call.disposition)}${call.detail === null ? '' : ` (${reasonText(call.detail)})`}`,
      ],
      ['Came to', call.result],
      [
        'Record of the service',
        record === null ? null : `${record.conversationId}${call.evidence === null ? '' : `, its own by ${reasonText(call.evidence)}`}`,
      ],
    ])}`;
}

function listed(entries: Evidence['suppressions']): string {
  if (entries.length === 0) return 'the number is not on it';
  return entries
    .map(({ scope, source, reason, createdAt, expiresAt }) => {
      const until = expiresAt === null ? 'for ever' : `until ${utc(expiresAt)}`;
      return `${scope}, since ${utc(createdAt)} ${until}, ${printable(source)}${reason === null ? '' : `: ${printable(reason)}`}`;
    })
    .join(' · ');
}

function auditText({ violations, promises, events }: Findings): string {
  const all = `${promises} promises over ${plural(events, 'event')} of the log`;
  return violations.length === 0
    ? `${all}: none is broken by these calls`
    : `${all}: BROKEN: ${violations.map(({ what }) => what).join('; ')}`;
}

function facts(list: readonly (readonly [string, HtmlValue])[]): Html {
  return html`<dl>
    ${list.map(([name, value]) => html`<dt>${name}</dt><dd>${value === null || value === undefined ? notRecorded : value}</dd>`)}
  </dl>`; // prettier-ignore
}

function utc(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC');
}
