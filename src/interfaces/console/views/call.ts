import { aside, count, duration, empty, facts, figure, id, instant, link, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import type { Turn } from '../../../service/port/call-service.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import { openCampaign, inCampaign, askTranscript, type ShownCall, requireRow } from '../core/rows.ts';
import { callPath, rowPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

/** What was said in one call, and its recording. Opening it asks the service, and is told in the log, so it never opens itself again. */
export async function callView(request: ViewRequest): Promise<View> {
  const { holder, params } = request;
  const { campaign, campaignId } = await openCampaign(request);
  const { row } = await requireRow(request, campaignId);
  const call = Number(/^[1-9]\d{0,5}$/.exec(params['call'] ?? '')?.[0] ?? 0);
  const view = {
    title: `Call ${call === 0 ? '' : `${call} `}to row ${row} of ${campaignId}`,
    ...inCampaign(campaign, [rowPath(campaignId, row), `Row ${row}`]),
  } as const;
  const back = link(rowPath(campaignId, row), `Back to row ${row}`);
  if (!may(request, 'operate')) {
    const why = `What people have said takes the role operate; the token of ${printable(holder.name)} has ${holder.role}.`;
    return { ...view, status: 403, body: empty(why, back) };
  }
  const { shown, refusal } = await askTranscript(request, { campaignId, row, call });
  if (shown !== null) return { ...view, body: [summary(shown), recording(shown), conversation(shown.turns)] };
  const { status, code, detail } = refusal;
  // Nothing is asked of the service, or told in the log, before the record is complete.
  const follows = code === 'call_open' ? { follows: campaignId } : {};
  return { ...view, ...follows, status, body: empty(printable(detail), [nextStep(code), ' ', back]) };
}

function nextStep(code: string): string {
  if (code === 'call_open') return 'This page shows it as soon as the service reports the end of the call.';
  if (code === 'no_record') return 'What is known of the call without its record stands with its row.';
  return code === 'service_unusable' ? 'The record stays there. Load this page again later.' : '';
}

function summary({ campaignId, row, call, conversationId, startedAt, durationMs, callResult }: ShownCall): Html {
  return panel(
    'Call',
    facts([
      ['Row', link(rowPath(campaignId, row), `${campaignId}, row ${row}`)],
      ['Call', figure(call)],
      ['Started', startedAt === null ? null : instant(Date.parse(startedAt), 'full')],
      ['Duration', durationMs === null ? null : figure(duration(durationMs))],
      ['As the service names its end', callResult === null ? null : reasonText(callResult)],
      ['Conversation', id(printable(conversationId))],
    ]),
    aside('Read from the service now; the log says that you did'),
  );
}

function recording({ campaignId, row, call, isRecorded }: ShownCall): Html {
  if (!isRecorded)
    return panel('Recording', empty('The service names none', 'Nobody answered, recordings are turned off there, or it was deleted.'));
  const path = callPath(campaignId, row, call, '/recording');
  return panel(
    'Recording',
    [
      html`<audio id="recording" controls preload="none" src="${path}"></audio>`,
      html`<p class="soft">
        It comes from the service, and is not kept here. If it does not play,
        <a href="${path}" download>download it</a>: what is wrong is told then.
      </p>`,
    ],
    aside('Playing it is noted in the log'),
  );
}

function conversation(turns: readonly Turn[]): Html {
  return panel(
    'Transcript',
    turns.length === 0
      ? empty('Nothing was said', 'The record of the service holds no words, as of a call that nobody answered.')
      : html`<ol class="transcript">
          ${turns.map(turnLine)}
        </ol>`,
    aside(count(turns.length, 'turn')),
  );
}

const speakers: Readonly<Record<string, string>> = { agent: 'Agent', user: 'Person' };

function turnLine({ speaker, text, time }: Turn, index: number): Html {
  const isKnown = Object.hasOwn(speakers, speaker);
  return html`<li id="turn-${index}" class="${isKnown ? speaker : 'other'}">
    <p class="speaker">${isKnown ? speakers[speaker] : printable(speaker)} ${timeOf(time)}</p>
    <p class="said">${text === null ? html`<span class="soft">no words</span>` : printableLines(text)}</p>
  </li>`;
}

/** Seconds since the call began, an instant, or something else that the service writes. */
function timeOf(time: Turn['time']): HtmlValue {
  if (time === null) return null;
  if (typeof time === 'number') return figure(duration(time * 1000));
  const at = /^\d{4}-\d\d-\d\dT/.test(time) ? Date.parse(time) : NaN;
  return Number.isNaN(at) ? figure(printable(time)) : instant(at);
}
