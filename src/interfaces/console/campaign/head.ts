import { instant, menu, menuLink } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { capital, count, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { hasClosed, hasEnded } from '../../../rules/lifecycle.ts';
import { lastEventSeq } from '../../../ledger/events.ts';
import type { LastActs } from '../../../ledger/read/campaign-view.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { proveCampaigns, type Proof } from '../../../presentation/report/report-data.ts';
import { apiText } from '../../../presentation/words/campaign.ts';
import { campaignPath } from '../core/links.ts';
import { acts as actWords } from './activity.ts';
import { may, type ViewRequest } from '../core/view.ts';

/** Longer logs are verified only on request: for a report, or by `carillon verify`. */
const mostVerified = 10_000;
const proofWithinMs = 100;

/** Main action in this state, and a menu of the others; null for the role read. */
export function headActions(request: ViewRequest, campaign: Campaign, { isRehearsed }: { isRehearsed: boolean }): Html | null {
  const { campaignId, state } = campaign;
  const at = (more: string): string => campaignPath(campaignId, more);
  const rehearsal = isRehearsed ? menuLink(at('/rehearsal'), 'See the rehearsal', { drawing: 'flask' }) : null;
  if (!may(request, 'operate')) return null;
  const goesOn = ['scheduled', 'running', 'paused', 'draining'].includes(state);
  const canChange = goesOn && state !== 'draining';
  const entries = [
    canChange &&
      campaign.rules.list.idColumn !== null &&
      menuLink(at('/add'), 'Add a person…', { drawing: 'people', small: 'One row, called as the others are' }),
    canChange && menuLink(at('/update'), 'Change the list…', { drawing: 'people', small: 'Add, correct or withdraw people' }),
    goesOn && menuLink(at('/limits'), 'Change limits…', { drawing: 'gauge', small: 'Calls at once, hours, retries' }),
    hasClosed(campaign) && menuLink(at('/retry'), 'Call people again…', { drawing: 'retry', small: 'In another round' }),
    !hasClosed(campaign) && state !== 'importing' && menuLink(at('/results'), 'Download results so far', { drawing: 'download' }),
    rehearsal,
    state !== 'importing' &&
      menuLink(`/new?copy=${encodeURIComponent(campaignId)}`, 'Copy as a new campaign…', {
        drawing: 'copy',
        small: 'Its settings, for another list',
      }),
    goesOn && html`<hr />`,
    canChange && menuLink(at('/drain'), 'Finish early…', { drawing: 'out', small: 'No new calls; open calls end', danger: true }),
    goesOn && menuLink(at('/cancel'), 'Cancel campaign…', { drawing: 'x', small: 'Nobody who waits is called', danger: true }),
  ].filter((entry) => entry !== false && entry !== null);
  return html`${primary(campaign)} ${entries.length === 0 ? null : menu('More actions', entries)}`;
}

function primary({ campaignId, state }: Campaign): Html | null {
  const button = (more: string, drawing: IconName, words: string): Html =>
    html`<a class="btn primary" href="${campaignPath(campaignId, more)}">${icon(drawing)} ${words}</a>`;
  switch (state) {
    case 'scheduled':
    case 'running':
      return button('/pause', 'pause', 'Pause');
    case 'paused':
      return button('/resume', 'play', 'Resume…');
    case 'completed':
    case 'cancelled':
      return button('/results', 'download', 'Download results');
    case 'importing':
    case 'draft':
    case 'draining':
    case 'failed':
      return null;
  }
}

export function headMeta(campaign: Campaign, acts: LastActs, proof: Proof | null): Html {
  const { campaignId, round } = campaign;
  const api = apiText(campaign);
  return html`<span class="mono">${campaignId}</span> ${actedText(campaign, acts)}
    ${round > 1 ? html`<span>${icon('retry')} Round ${count(round)}</span>` : null}
    ${api === null ? null : html`<span>${icon('plug')} ${api}</span>`} ${proof === null ? null : proofMenu(campaignId, proof)}`;
}

const readOnlyActions = /_(?:shown|exported)$/;

/** Since when it is in its state, and who acted. Older logs do not name the command line. */
function actedText({ state, createdAt, stateReason }: Campaign, { acted, changed }: LastActs): Html {
  const at = changed?.at ?? createdAt;
  const isOwn = state === 'paused' && acted?.action !== 'pause' && stateReason !== 'paused by a person';
  const verb = acted === null || readOnlyActions.test(acted.action) ? undefined : actWords[acted.action]?.[0];
  if (acted !== null && verb !== undefined && !isOwn && !hasEnded({ state }))
    return html`<span class="skip-narrow"
      >${icon('person')}<span>${capital(printable(acted.name))} ${verb} ${instant(acted.at, 'minute')}</span></span
    >`;
  const words: Readonly<Record<Campaign['state'], string>> = {
    importing: 'Being imported since',
    draft: 'Imported',
    scheduled: 'Started from the command line',
    running: 'Started from the command line',
    paused: isOwn ? 'Stopped' : 'Paused from the command line',
    draining: 'Finishing since',
    completed: 'Done since',
    cancelled: 'Cancelled',
    failed: 'Failed',
  };
  const who = acted !== null && state === 'cancelled' && acted.action === 'cancel' ? ` by ${printable(acted.name)},` : '';
  return html`<span class="skip-narrow"
    >${icon(isOwn ? 'stop' : 'clock')}<span>${words[state]}${who} ${instant(at, 'minute')}</span></span
  >`;
}

/** Result of `carillon verify`; null while it runs, or if the log is too long. */
export async function readProof({ context, cache, now }: ViewRequest, campaignId: string): Promise<Proof | null> {
  const { store } = context;
  if ((await lastEventSeq(store.db)) > mostVerified) return null;
  return cache.readWithin(proofWithinMs, `proof ${campaignId}`, () => proveCampaigns(store, { ids: [campaignId], now, verify: {} }));
}

function proofMenu(campaignId: string, proof: Proof): Html {
  const results = campaignPath(campaignId, '/results');
  return html`<details class="menu" id="promises">
    <summary class="promise ${proof.ok ? '' : 'is-broken'}">${icon(proof.ok ? 'shield' : 'alert')} ${proofWord(proof)}</summary>
    <div class="pop left text">
      <p><b>${proof.ok ? 'Every promise was kept' : proofWord(proof)}</b></p>
      <p class="soft small">
        Checked ${instant(proof.judgedAt, 'minute')} against ${plural(proof.events, 'line')} of the log and ${plural(proof.calls, 'call')}.
      </p>
      ${
        proof.ok
          ? null
          : html`<ul class="checks">
              ${proof.violations.slice(0, 5).map(({ what }) => html`<li class="is-bad">${icon('alert')}<span>${printable(what)}</span></li>`)}
            </ul>`
      }
      <p class="small"><a href="${results}">The report names each of them</a></p>
    </div>
  </details>`;
}

export function proofWord({ ok, checks, found }: Proof): string {
  return ok ? `${plural(checks, 'promise')} kept` : `${count(found)} broken ${found === 1 ? 'promise' : 'promises'}`;
}
