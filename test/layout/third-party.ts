import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockFile {
  packages: Record<string, { version?: string; license?: string; dev?: boolean; devOptional?: boolean }>;
}

const head = `# Third-party software and data

Made by \`npm run third-party\` from package-lock.json, which \`npm run check\` compares with this page. Each package comes with its licence
text in node_modules.

## Data that asks for attribution

- Public holidays: \`date-holidays\` by commenthol and contributors. Its data is taken from Wikipedia and other sources that its files name,
  under [CC BY-SA 3.0](https://creativecommons.org/licenses/by-sa/3.0/) (the package states CC-BY-3.0). Carillon reads it unchanged.
- Browser usage tables: \`caniuse-lite\`, data of caniuse.com, under [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). It is used
  when workflows are bundled.

## Packages
`;

/** THIRD_PARTY.md: each package installed with Carillon, by licence; `not stated` where a package names none. */
export function thirdPartyPage(root: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const byLicence = new Map<string, Set<string>>();
  for (const [path, { version = '', license = 'not stated', dev, devOptional }] of Object.entries(packages)) {
    if (path === '' || dev === true || devOptional === true) continue;
    const named = byLicence.get(license) ?? new Set();
    byLicence.set(license, named.add(`${path.split('node_modules/').at(-1)} ${version}`));
  }
  const parts = [...byLicence].sort(([a], [b]) => a.localeCompare(b, 'en'));
  const lists = parts.map(
    ([licence, named]) =>
      `### ${licence}\n\n${[...named]
        .sort()
        .map((name) => `- ${name}\n`)
        .join('')}`,
  );
  return `${head}\n${lists.join('\n')}`;
}

export function checkThirdParty(root: string): string[] {
  if (readFileSync(join(root, 'THIRD_PARTY.md'), 'utf8') === thirdPartyPage(root)) return [];
  return ['THIRD_PARTY.md differs from package-lock.json: run npm run third-party.'];
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '../..');
  writeFileSync(join(root, 'THIRD_PARTY.md'), thirdPartyPage(root));
}
