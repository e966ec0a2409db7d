import pytest

from deepwell.reading.dates import iso_date, spoken_date


@pytest.mark.parametrize(
    ("written", "iso", "spoken"),
    [
        ("2023-11-27T08:45:59+00:00", "2023-11-27", "November 27, 2023"),
        ("D:20230105120000+01'00'", "2023-01-05", "January 5, 2023"),
        ("20231007", "2023-10-07", "October 7, 2023"),
        ("October 7, 2023", "2023-10-07", "October 7, 2023"),
        ("7 Oct. 2023", "2023-10-07", "October 7, 2023"),
        ("Tue, 07 Nov 2023 10:00:00 GMT", "2023-11-07", "November 7, 2023"),
        ("2023/10/07", "2023-10-07", "October 7, 2023"),
        ("2023-1-5", "2023-01-05", "January 5, 2023"),
        ("Oct 2023", "2023-10", "October 2023"),
        ("2023", "2023", "2023"),
    ],
)
def test_reads_dates_as_documents_write_them(written: str, iso: str, spoken: str) -> None:
    assert iso_date(written) == iso
    assert spoken_date(iso) == spoken


@pytest.mark.parametrize("written", [None, "", "yesterday", "2023-13-45", "1.5", "20231", "99999999", "١٢٣٤"])
def test_what_is_no_date_is_none(written: str | None) -> None:
    assert iso_date(written) is None
