import { plural } from '../../../shared/input/figures.ts';
import { duration, empty, facts, figure, id, instant, link, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import type { Turn } from '../../../service/port/call-service.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import { callPath, rowPath, rowsPath } from '../core/links.ts';
import { askTranscript, inCampaign, personName, type CallTranscript } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { collectedOf, readPerson, storyOf } from '../people/person.ts';
import { rowStatusBadge } from '../people/standing.ts';

/** Opening it reads from the service and is logged, so it never opens by itself. */
export async function callView(request: ViewRequest): Promise<View> {
  const { holder, params } = request;
  const person = await readPerson(request);
  const { campaign, row } = person;
  const { campaignId } = campaign;
  const call = Number(/^[1-9]\d{0,5}$/.exec(params['call'] ?? '')?.[0] ?? 0);
  const name = personName(row.row, row.externalId);
  const path = rowPath(campaignId, row.row);
  const view = {
    title: `Call ${call === 0 ? '' : `${call} `}to ${name}`,
    ...inCampaign(campaign, [rowsPath(campaignId), 'People'], [path, name]),
    badge: rowStatusBadge(row),
  } as const;
  const back = link(path, `Back to ${name}`);
  if (!may(request, 'operate')) {
    const why = `What people have said takes the role operate; the token of ${printable(holder.name)} has ${holder.role}.`;
    return { ...view, status: 403, body: empty(why, back) };
  }
  const { shown, refusal } = await askTranscript(request, { campaignId, row: row.row, call });
  if (shown !== null) {
    const known = person.own?.calls.find(({ attempt }) => attempt.number === call);
    const values = known === undefined ? [] : collectedOf(known);
    return {
      ...view,
      body: html`<div class="cols">
        <div>${conversation(shown, holder.name)}</div>
        <div>
          ${values.length === 0 ? null : panel('Collected', html`<div class="pad">${facts(values)}</div>`, html`<p>by the agent in this call</p>`)}
          ${summary(shown)} ${panel('What happened', html`<div class="pad">${storyOf(request, person)}</div>`, html`<p>newest first</p>`)}
        </div>
      </div>`, // prettier-ignore
    };
  }
  const { status, code, detail } = refusal;
  // Before the record is complete, nothing is read from the service or logged.
  const follows = code === 'call_open' ? { follows: campaignId } : {};
  return { ...view, ...follows, status, body: empty(printable(detail), [nextStep(code), ' ', back]) };
}

function nextStep(code: string): string {
  if (code === 'call_open') return 'This page shows it as soon as the service reports the end of the call.';
  if (code === 'no_record') return 'What is known of the call without its record stands with the person.';
  return code === 'service_unusable' ? 'The record stays there. Load this page again later.' : '';
}

function summary({ call, conversationId, startedAt, durationMs, callResult }: CallTranscript): Html {
  return panel(
    'Call',
    html`<div class="pad">
      ${facts([
        ['Attempt', figure(call)],
        ['Began', startedAt === null ? null : instant(Date.parse(startedAt), 'full')],
        ['Lasted', durationMs === null ? null : figure(duration(durationMs))],
        ['Ended, by the service', callResult === null ? null : reasonText(callResult)],
        ['Conversation', id(printable(conversationId))],
      ])}
    </div>`,
  );
}

function conversation(shown: CallTranscript, reader: string): Html {
  const { campaignId, row, call, isRecorded, turns, startedAt } = shown;
  const path = callPath(campaignId, row, call, '/recording');
  return panel('Recording and transcript', html`${
      isRecorded
        ? html`<div class="pad player">
            <audio id="recording" controls preload="none" src="${path}"></audio>
            <a class="btn sm" href="${path}" download title="If it does not play: what is wrong is told then">${icon('download')} Recording</a>
          </div>`
        : html`<p class="pad soft">There is no recording: nobody answered, recordings are turned off there, or it was deleted.</p>`
    }
    ${
      turns.length === 0
        ? empty('Nothing was said', 'The record of the service holds no words, as of a call that nobody answered.')
        : html`<div class="pad">
            <ol class="talk">
              ${turns.map((turn, index) => turnLine(turn, { index, began: startedAt === null ? null : Date.parse(startedAt), isRecorded }))}
            </ol>
          </div>`
    }
    <footer>
      <span>Read from the service when you opened this page; not stored here. The log notes that ${printable(reader)} read it, and who plays it.</span>
    </footer>`, html`<p>${plural(turns.length, 'turn')}</p>`, 'said'); // prettier-ignore
}

const speakers: Readonly<Record<string, readonly [kind: string, words: string]>> = {
  agent: ['agent', 'Agent'],
  user: ['callee', 'Person'],
};

function turnLine(
  { speaker, text, time }: Turn,
  { index, began, isRecorded }: { index: number; began: number | null; isRecorded: boolean },
): Html {
  const [kind, words] = (Object.hasOwn(speakers, speaker) ? speakers[speaker] : undefined) ?? ['other', printable(speaker)];
  const seconds = secondsOf(time, began);
  const line = html`${timeOf(time, seconds)}<b>${words}</b><span>${text === null ? html`<span class="soft">no words</span>` : printableLines(text)}</span>`; // prettier-ignore
  return html`<li id="turn-${index}" class="${kind}" data-seconds="${seconds}">
    ${seconds === null || !isRecorded ? html`<div>${line}</div>` : html`<a href="#t=${seconds}">${line}</a>`}
  </li>`;
}

const longestCallSeconds = 86_400;

/** Since the start of the call; null if unknown. */
function secondsOf(time: Turn['time'], began: number | null): number | null {
  const seconds = typeof time === 'number' ? time : began === null || !isInstant(time) ? NaN : (Date.parse(time) - began) / 1000;
  return seconds >= 0 && seconds < longestCallSeconds ? Math.floor(seconds) : null;
}

function isInstant(time: Turn['time']): time is string {
  return typeof time === 'string' && /^\d{4}-\d\d-\d\dT/.test(time) && !Number.isNaN(Date.parse(time));
}

/** Seconds since the start, an instant, or other text of the service. */
function timeOf(time: Turn['time'], seconds: number | null): HtmlValue {
  if (seconds !== null) return html`<span class="at num">${duration(seconds * 1000)}</span>`;
  return html`<span class="at num">${time === null ? null : isInstant(time) ? instant(Date.parse(time)) : printable(String(time))}</span>`;
}
