import { randomUUID } from 'node:crypto';
import { linkButton, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { examplePath } from '../core/links.ts';
import { may, type ViewRequest } from '../core/view.ts';

const steps = [
  ['List', 'Upload it; problem rows are shown at once.'],
  ['Words', 'Pick the agent and see real examples.'],
  ['Rehearse', 'Run it all with made-up people.'],
  ['Start', 'Watch calls, pause at any time.'],
] as const;

export function noCampaigns(request: ViewRequest): Html {
  return html`<section class="panel blank">
      ${icon('bell', 'mark')}
      <h2>No campaigns yet</h2>
      <p>
        A campaign calls everyone on a list, at hours that suit them, and tells you what came of every call. Nobody is called until
        ${may(request, 'operate') ? 'you press Start' : 'somebody with the role operate presses Start'}.
      </p>
    </section>
    <div class="ways">
      ${way('flask', 'Try the example', example(request))} ${way('upload', 'Start from your list', ownList(request))}
      ${way(
        'file',
        'Read how it works',
        html`<p>
          Calling hours, retries, opt-outs, and the promises that every campaign keeps stand in the guide, the folder
          <code>docs</code> of Carillon. From a terminal: <code>carillon start campaign.yaml</code>
        </p>`,
      )}
    </div>
    ${panel(
      'From list to outcome',
      html`<ol class="path">
        ${steps.map(([name, text]) => html`<li><b>${name}</b>${text}</li>`)}
      </ol>`,
    )}`;
}

function way(drawing: IconName, title: string, body: HtmlValue): Html {
  return html`<section class="panel">
    ${icon(drawing)}
    <h3>${title}</h3>
    ${body}
  </section>`;
}

/** Shows the button only if there is a sandbox. */
function example(request: ViewRequest): Html {
  const people = '300 made-up people answer in a sandbox. Days pass in minutes, and no real phone rings.';
  if (request.context.quickenSandbox === undefined || !may(request, 'operate'))
    return html`<p>${people} On your own machine: <code>carillon demo</code></p>`;
  return html`<p>${people} Takes a few minutes.</p>
    <form method="post" action="${examplePath}">
      <input type="hidden" name="key" value="${randomUUID()}" />
      <button class="btn primary">${icon('play')} Run the example</button>
    </form>`;
}

function ownList(request: ViewRequest): Html {
  return html`<p>
      Bring a CSV or Excel file with one phone number a row. You see who can be called and what they would hear before anything happens.
    </p>
    ${may(request, 'operate') ? linkButton('/new', 'New campaign', '', 'plus') : html`<p>It takes the role operate.</p>`}`;
}
