// Of a program that does nothing: its headers are parsed for others (fab_parse_test_headers).
