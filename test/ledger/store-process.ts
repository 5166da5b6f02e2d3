import { openStore, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { lockSqliteFile } from '../../src/ledger/worker-lock.ts';

const [what, location = '{}'] = process.argv.slice(2);
const place = JSON.parse(location) as StoreLocation;

if (what === 'open') {
  const store = await openStore(place);
  console.log(store.ledgerId);
  await store.close();
} else {
  try {
    lockSqliteFile(place.sqlitePath);
    console.log('locked');
    // Holds it until it is killed.
    setInterval(() => {}, 1_000);
  } catch (error) {
    console.log((error as Error).message);
  }
}
