import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeFileError, OutputFileError, codeOf } from '../../../shared/input/errors.ts';
import { packageFolder } from '../../../shared/input/package-folder.ts';

export interface DemoFolder {
  /** Also the campaign's id. */
  name: string;
  folder: string;
  campaignPath: string;
  databasePath: string;
  logPath: string;
  resultsPath: string;
}

const mostTries = 100;

/** Makes a folder of its own for one demo in the current one, with the example campaign under a fresh id. Throws OutputFileError. */
export async function createDemoFolder(nowMs: number): Promise<DemoFolder> {
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const name = await makeFreshFolder(`demo-${stamp}`);
  const folder = resolve(name);
  const source = join(packageFolder('examples'), 'reminders');
  const text = await readFile(join(source, 'campaign.yaml'), 'utf8');
  const campaignPath = join(folder, 'campaign.yaml');
  await writeFile(campaignPath, text.replace(/^id: .*$/m, `id: ${name}`));
  await copyFile(join(source, 'recipients.csv'), join(folder, 'recipients.csv'));
  return {
    name,
    folder,
    campaignPath,
    databasePath: join(folder, 'carillon.db'),
    logPath: join(folder, 'worker.log'),
    resultsPath: join(folder, 'results.csv'),
  };
}

async function makeFreshFolder(wanted: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const name = tries === 1 ? wanted : `${wanted}-${tries}`;
    try {
      await mkdir(resolve(name));
      return name;
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && tries < mostTries) continue;
      throw new OutputFileError(resolve(name), `the folder was not made: ${describeFileError(error)}`, {
        cause: error,
      });
    }
  }
}
