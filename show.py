import json,sys
for n in sys.argv[1].split(','):
    r=json.load(open(f'/tmp/lab/{n}/report.json'))
    print(n, r['seconds'], sum(x['wall_seconds'] for j in r['runs'] for x in j['runs']))
    for row in r['rows']:
        if row['id'] in sys.argv[2].split(','):
            print(row['id'],{p:[round(x,3) if x else x for x in c['rounds']] for p,c in row['peers'].items() if c})
